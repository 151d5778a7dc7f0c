// kforge-device: the program inside the sandbox that runs device programs. It opens a device through its
// driver, copies tensors there and back, and launches what a checked plan says. KForge itself is linked with
// no driver.
//
//   kforge-device PACKAGE                 speaks runner/protocol.h on descriptor 3
//   kforge-device --probe API             what the device says of itself, as JSON
//   kforge-device --compile PACKAGE OUT   compiles and compares with the plan: OUT is the package with what
//   was
//                                         compiled, standard output what the compiler says. Exit code 1: the
//                                         candidate's mistake, 2: the machinery's
//   kforge-device --call PACKAGE TENSORS  runs it a few times, for profilers (call_alone.h)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "device/child/call_alone.h"
#include "device/child/load_package.h"
#include "device/device_run.h"
#include "device/float_probe.h"
#include "runner/runner_state.h"

namespace kforge::runner {

RunnerState runner_state;

}  // namespace kforge::runner

namespace kforge {
namespace {

// What drivers keep between programs would carry code from one candidate to the next: each process has a
// cache of its own, in a folder that goes with the sandbox.
void keep_caches_apart() {
  const char* scratch = ::getenv("TMPDIR");
  std::string folder = std::string(scratch ? scratch : "/tmp") + "/driver.XXXXXX";
  if (!::mkdtemp(folder.data())) return;
  for (const char* name :
       {"HOME", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "MESA_SHADER_CACHE_DIR", "CUDA_CACHE_PATH"})
    ::setenv(name, folder.c_str(), 1);
  ::setenv("TMPDIR", folder.c_str(), 1);
  ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
}

std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// The arenas, as the runner's own code has mapped them.
class Arenas final : public HostTensors {
 public:
  std::span<std::byte> data(std::size_t tensor, std::uint32_t slot) const override {
    const runner::Argument& argument = runner::runner_state.arguments[tensor];
    auto* begin = static_cast<std::byte*>(argument.data(argument.slots == 1 ? 0 : slot));
    return {begin, static_cast<std::size_t>(argument.row.data_bytes)};
  }
};

struct Program {
  DevicePackage package;
  LaunchPlan plan;
  std::unique_ptr<DeviceApi> api;
  Arenas arenas;
  std::unique_ptr<DeviceRun> run;
  std::span<std::byte> window;  // the parent's
};

Result<void> fits(const DevicePackage& package) {
  const runner::RunnerState& state = runner::runner_state;
  if (state.argument_count != package.setting.tensors.size()) return fail("the package is of another task");
  for (std::size_t i = 0; i < package.setting.tensors.size(); ++i)
    if (state.arguments[i].row.data_bytes != package.setting.tensors[i].bytes)
      return fail("the package is of other shapes");
  return {};
}

Result<void> load(const char* path, Program& program) {
  KF_TRY(program.package, read_package(path));
  KF_TRY_VOID(fits(program.package));
  KF_TRY(program.plan, plan_of(program.package));
  KF_TRY(program.api, open_device(program.package.api));
  KF_TRY(auto built, program.api->build(program.package, program.plan, false));
  if (!built) return fail("{}", reason_text(built.error()));
  program.run = std::make_unique<DeviceRun>(*program.api, program.plan, program.package.setting,
                                            program.arenas, runner::runner_state.slot_count);
  return {};
}

Result<std::vector<std::uint32_t>> slots_of(const runner::Packet& packet) {
  std::vector<std::uint32_t> slots(packet.head.payload / sizeof(std::uint32_t));
  if (slots.empty() || slots.size() > KFORGE_MAX_SLOTS || packet.head.payload % sizeof(std::uint32_t))
    return fail("wrong number of slots");
  ::memcpy(slots.data(), packet.payload, packet.head.payload);
  for (const std::uint32_t slot : slots)
    if (slot >= runner::runner_state.slot_count) return fail("there is no such slot");
  return slots;
}

Result<std::span<std::byte>> mapped(int fd, std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return fail("cannot map {} bytes of the parent's memory", bytes);
  return std::span(static_cast<std::byte*>(at), bytes);
}

// The parent's window, and in it what it wants guard zones to hold.
Result<void> open_window(const runner::Packet& packet, Program& program) {
  const std::size_t bytes = packet.head.value;
  if (packet.fd_count < 1 || bytes < sizeof(KforgeShown)) return fail("there is no window");
  KF_TRY(program.window, mapped(packet.fds[0], bytes));
  program.run->set_guard(program.window.first(KFORGE_GUARD_BYTES));
  if (packet.fd_count < 2) return {};
  struct stat info {};
  if (::fstat(packet.fds[1], &info) != 0) return fail("cannot read the size of the shared memory");
  KF_TRY(const auto shared, mapped(packet.fds[1], static_cast<std::size_t>(info.st_size)));
  program.run->share(shared);
  return {};
}

Result<void> serve(const char* path, const runner::Packet& packet, Program& program) {
  const std::uint32_t type = packet.head.type;
  if (type == KFORGE_SETUP) return runner::set_up(packet), Result<void>{};
  if (type == KFORGE_ECHO) return runner::send_done(0, 0), Result<void>{};
  if (type == KFORGE_EXIT) ::_exit(0);
  if (type == KFORGE_LOAD) {
    KF_TRY_VOID(load(path, program));
    const std::uint64_t flags = KFORGE_HAS_TRANSFERS | (program.run->guarded() ? KFORGE_SHOWS_MEMORY : 0);
    return runner::send_done(flags | (program.run->has_prepare() ? KFORGE_HAS_PREPARE : 0), 0),
           Result<void>{};
  }
  if (!program.run) return fail("no program is loaded");
  if (type == KFORGE_WINDOW) {
    KF_TRY_VOID(open_window(packet, program));
    return runner::send_done(0, 0), Result<void>{};
  }
  if (type == KFORGE_SHOW) {
    std::vector<std::uint32_t> slots;
    if (packet.head.payload > 0) {
      KF_TRY(slots, slots_of(packet));
    }
    KF_TRY(const bool more, program.run->show(slots, packet.head.value == 0, program.window));
    return runner::send_done(more ? 1 : 0, 0), Result<void>{};
  }
  const std::uint64_t start = now_ns();
  if (type == KFORGE_PREPARE) {
    KF_TRY_VOID(program.run->prepare());
    return runner::send_done(0, now_ns() - start), Result<void>{};
  }
  KF_TRY(const auto slots, slots_of(packet));
  if (type == KFORGE_UPLOAD) {
    KF_TRY_VOID(program.run->upload(slots));
  } else if (type == KFORGE_CALL) {
    const std::uint64_t call_start = now_ns();
    KF_TRY(const std::uint64_t device_ns, program.run->call(slots));
    return runner::send_done(device_ns, now_ns() - call_start), Result<void>{};
  } else if (type == KFORGE_DOWNLOAD) {
    KF_TRY_VOID(program.run->download(slots));
  } else {
    return fail("unknown message");
  }
  return runner::send_done(0, 0), Result<void>{};
}

// What goes wrong while the candidate's kernels run is their doing, as far as anybody can tell.
void send_failure(std::uint32_t type, const std::string& text) {
  if (type != KFORGE_CALL && type != KFORGE_PREPARE) return runner::send_error(text.c_str());
  const std::string_view shown = std::string_view(text).substr(0, 1000);
  runner::send_message(KFORGE_FAILED, KFORGE_FAILED_CRASH, 0, shown.data(),
                       static_cast<std::uint32_t>(shown.size()));
}

int serve_all(const char* path) {
  Program program;
  runner::send_message(KFORGE_READY, KFORGE_PROTOCOL_VERSION, 0);
  for (runner::Packet packet; runner::receive_packet(packet);)
    if (auto served = serve(path, packet, program); !served)
      send_failure(packet.head.type, served.error().message);
  // Drivers end their threads in their own time, and nobody waits for that.
  ::_exit(0);
}

int probe(const char* name) {
  auto api = open_device(name);
  if (!api) return ::fprintf(stderr, "%s\n", api.error().message.c_str()), 2;
  DeviceFacts facts = (*api)->facts();
  if (auto probed = probe_floats(**api, facts); !probed)
    return ::fprintf(stderr, "%s\n", probed.error().message.c_str()), 2;
  ::puts(to_json(facts).c_str());
  ::fflush(nullptr);
  ::_exit(0);
}

Step<std::string> compile(const char* from, const char* to) {
  KF_TRY(DevicePackage package, read_package(from));
  KF_TRY(LaunchPlan plan, plan_of(package));
  KF_TRY(auto api, open_device(package.api));
  KF_TRY(auto built, api->build(package, plan, true));
  if (built) KF_TRY_VOID(write_scratch_file(to, to_bytes(package)));
  api.release();  // ended with the process
  return built;
}

int compile_main(const char* from, const char* to) {
  auto built = compile(from, to);
  int code = 0;
  if (!built) {
    ::fprintf(stderr, "%s\n", built.error().message.c_str());
    code = 2;
  } else {
    ::fputs((*built ? **built : reason_text(built->error())).c_str(), stdout);
    code = *built ? 0 : 1;
  }
  ::fflush(nullptr);
  ::_exit(code);
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  kforge::keep_caches_apart();
  if (argc == 3 && !::strcmp(argv[1], "--probe")) return kforge::probe(argv[2]);
  if (argc == 4 && !::strcmp(argv[1], "--compile")) return kforge::compile_main(argv[2], argv[3]);
  if (argc == 4 && !::strcmp(argv[1], "--call")) return kforge::call_alone(argv[2], argv[3]);
  if (argc == 2 && argv[1][0] != '-') return kforge::serve_all(argv[1]);
  ::fputs("usage: kforge-device PACKAGE | --probe API | --compile PACKAGE OUT | --call PACKAGE TENSORS\n",
          stderr);
  return 2;
}
