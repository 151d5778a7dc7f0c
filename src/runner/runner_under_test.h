// Drives kforge-runner as KForge does: a socket, three shared-memory files, a sandbox around it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"
#include "runner/protocol.h"
#include "sandbox/sandbox.h"

namespace kforge {

// A shared library made from C++ text by the system's compiler, in a folder every user can read.
class CompiledCandidate {
 public:
  explicit CompiledCandidate(const std::string& source, std::vector<std::string> flags = {"-fopenmp"}) {
    auto folder = TempDir::create(0755);
    EXPECT_TRUE(folder.has_value());
    folder_ = std::move(*folder);
    EXPECT_TRUE(write_file_atomic(folder_.path() / "candidate.cc", source).has_value());
    Command compile{.argv = {"g++", "-std=c++20", "-O1", "-shared", "-fPIC"}};
    compile.argv.insert(compile.argv.end(), flags.begin(), flags.end());
    compile.argv.insert(compile.argv.end(), {"-o", path(), (folder_.path() / "candidate.cc").string()});
    auto finished = run_command(compile);
    EXPECT_TRUE(finished.has_value() && finished->ok())
        << (finished ? finished->err : finished.error().text());
  }
  std::string path() const { return (folder_.path() / "candidate.so").string(); }
  const fs::path& folder() const { return folder_.path(); }

 private:
  TempDir folder_;
};

struct Reply {
  KforgeMessage head{};
  std::string payload;
  bool ended = false;  // the socket was closed

  KforgeFault fault() const {
    KforgeFault fault{};
    if (payload.size() == sizeof fault) std::memcpy(&fault, payload.data(), sizeof fault);
    return fault;
  }
};

// Three arguments of one page each: input x, param w, output y; two slots. Floats end at the page's end.
class RunnerUnderTest {
 public:
  static constexpr std::size_t kFloats = 16;
  static constexpr std::size_t kPage = 4096;
  static constexpr std::uint32_t kSlots = 2;

  RunnerUnderTest(const CompiledCandidate& candidate, SandboxTier tier, SandboxLimits limits = {}) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    socket_.reset(ends[0]);
    Fd inner(ends[1]);
    auto load = load_filter(), run = run_filter();
    EXPECT_TRUE(load.has_value() && run.has_value());
    SandboxSpec spec;
    spec.argv = {KFORGE_BINARY_DIR "/kforge-runner", candidate.path()};
    spec.readable = {candidate.folder()};
    spec.env = {{"OMP_NUM_THREADS", "2"}};
    spec.fds = {inner.get()};
    spec.limits = limits;
    if (tier != SandboxTier::kNone) {
      spec.fds.insert(spec.fds.end(), {load->get(), run->get()});
      spec.argv.insert(spec.argv.end(), {"--load-filter", "4", "--run-filter", "5"});
    }
    auto process = start_sandboxed(spec, tier);
    EXPECT_TRUE(process.has_value()) << process.error().text();
    if (process) process_ = std::move(*process);
    timeval limit{10, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (int i = 0; i < 3; ++i) {
      arenas_[i] = std::move(*make_memfd("arena", kPage * kSlots));
      maps_[i] = std::move(*Mapping::map(arenas_[i].get(), kPage * kSlots, true));
    }
  }

  SandboxedProcess& process() { return *process_; }
  int socket() const { return socket_.get(); }

  float* tensor(int arena, std::uint32_t slot) {
    return reinterpret_cast<float*>(maps_[arena].data() + (slot + 1) * kPage) - kFloats;
  }

  void send(std::uint32_t type, const void* payload = nullptr, std::size_t bytes = 0,
            std::vector<int> fds = {}) {
    KforgeMessage head{type, static_cast<std::uint32_t>(bytes), 0, 0};
    iovec parts[2] = {{&head, sizeof head}, {const_cast<void*>(payload), bytes}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 3)] = {};
    if (!fds.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
    }
    ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  }

  Reply receive() {
    char buffer[8192];
    Reply reply;
    ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    reply.ended = got <= 0;
    if (got < static_cast<ssize_t>(sizeof reply.head)) return reply;
    std::memcpy(&reply.head, buffer, sizeof reply.head);
    reply.payload.assign(buffer + sizeof reply.head, static_cast<std::size_t>(got) - sizeof reply.head);
    return reply;
  }

  Reply set_up() {
    struct {
      std::uint32_t arguments = 3, slots = kSlots;
      KforgeArgumentRow rows[3];
    } table;
    for (std::uint32_t i = 0; i < 3; ++i) {
      bool param = i == 1;
      std::uint32_t arena = param ? KFORGE_ARENA_PARAMS : i == 0 ? KFORGE_ARENA_INPUTS : KFORGE_ARENA_OUTPUTS;
      std::uint64_t bytes = kFloats * sizeof(float);
      table.rows[i] = {arena, param, 0, param ? 0 : kPage, kPage, kPage - bytes, bytes};
    }
    send(KFORGE_SETUP, &table, sizeof table, {arenas_[0].get(), arenas_[1].get(), arenas_[2].get()});
    return receive();
  }

  Reply load() {
    send(KFORGE_LOAD);
    return receive();
  }
  Reply prepare() {
    send(KFORGE_PREPARE);
    return receive();
  }
  Reply call(std::vector<std::uint32_t> slots = {0}) {
    send(KFORGE_CALL, slots.data(), slots.size() * sizeof(std::uint32_t));
    return receive();
  }

  // kReady, kSetup and kLoad; the answer to kLoad.
  Reply start() {
    EXPECT_EQ(receive().head.type, KFORGE_READY);
    Reply reply = set_up();
    EXPECT_EQ(reply.head.type, KFORGE_DONE) << reply.payload;
    return load();
  }

  SandboxExit finish() {
    send(KFORGE_EXIT);
    auto exit = process_->wait();
    EXPECT_TRUE(exit.has_value());
    return exit ? *exit : SandboxExit{};
  }

 private:
  Fd socket_;
  Fd arenas_[3];
  Mapping maps_[3];
  std::unique_ptr<SandboxedProcess> process_;
};

}  // namespace kforge
