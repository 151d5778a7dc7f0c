// kforge-command: the program inside the sandbox that runs programs of command platforms. Each timed run is a
// process of its own, with all it starts; this one writes its inputs and reads its outputs, outside the
// clock.
//
//   kforge-command PACKAGE    speaks runner/protocol.h on descriptor 3
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <memory>

#include "base/files.h"
#include "command/command_run.h"
#include "runner/runner_state.h"

namespace kforge::runner {

RunnerState runner_state;

}  // namespace kforge::runner

namespace kforge {
namespace {

constexpr std::size_t kLargestPackage = 256 << 20;

std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// The arenas, as the runner's own code has mapped them.
std::span<std::byte> tensor_data(std::size_t tensor, std::uint32_t slot) {
  const runner::Argument& argument = runner::runner_state.arguments[tensor];
  auto* begin = static_cast<std::byte*>(argument.data(argument.slots == 1 ? 0 : slot));
  return {begin, static_cast<std::size_t>(argument.row.data_bytes)};
}

// In a private /tmp, or the folder that the sandbox gives each process; a folder inside it, because all of it
// is emptied before every run.
Result<fs::path> own_folder() {
  const char* scratch = ::getenv("TMPDIR");
  std::string folder = std::string(scratch ? scratch : "/tmp") + "/command.XXXXXX";
  if (!::mkdtemp(folder.data())) return fail("cannot make a folder {}", folder);
  return fs::path(folder);
}

Result<void> load(const char* path, std::unique_ptr<CommandRun>& run) {
  KF_TRY(std::string bytes, read_file(path, kLargestPackage));
  KF_TRY(CommandPackage package, command_package_from(bytes));
  if (package.tensors.size() != runner::runner_state.argument_count)
    return fail("the package is of another task");
  KF_TRY(fs::path folder, own_folder());
  run = std::make_unique<CommandRun>(std::move(package), tensor_data, folder);
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

void send_failure(const CommandFailure& failure) {
  const std::string text = failure.text.substr(0, 3000);
  runner::send_message(KFORGE_FAILED, failure.kind, 0, text.data(), static_cast<std::uint32_t>(text.size()));
}

Result<void> serve(const char* path, const runner::Packet& packet, std::unique_ptr<CommandRun>& run) {
  const std::uint32_t type = packet.head.type;
  if (type == KFORGE_SETUP) return runner::set_up(packet), Result<void>{};
  if (type == KFORGE_EXIT) ::_exit(0);
  if (type == KFORGE_ECHO) return runner::send_done(0, 0), Result<void>{};
  if (type == KFORGE_LOAD) {
    KF_TRY_VOID(load(path, run));
    return runner::send_done(KFORGE_HAS_TRANSFERS, 0), Result<void>{};
  }
  if (!run) return fail("no program is loaded");
  if (type == KFORGE_PREPARE) return runner::send_done(0, 0), Result<void>{};
  KF_TRY(const auto slots, slots_of(packet));
  if (type == KFORGE_UPLOAD) {
    KF_TRY_VOID(run->stage(slots));
    return runner::send_done(0, 0), Result<void>{};
  }
  const std::uint64_t start = now_ns();
  if (type == KFORGE_CALL) {
    KF_TRY(auto used, run->run());
    if (!used) return send_failure(used.error()), Result<void>{};
    return runner::send_done(static_cast<std::uint64_t>(*used), now_ns() - start), Result<void>{};
  }
  if (type != KFORGE_DOWNLOAD) return fail("unknown message");
  KF_TRY(auto claimed, run->collect(slots));
  if (!claimed) return send_failure(claimed.error()), Result<void>{};
  return runner::send_done(static_cast<std::uint64_t>(*claimed), 0), Result<void>{};
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') return ::fputs("usage: kforge-command PACKAGE\n", stderr), 2;
  // The programs it starts have the same uid: they may not look into this process.
  ::prctl(PR_SET_DUMPABLE, 0);
  std::unique_ptr<kforge::CommandRun> run;
  kforge::runner::send_message(KFORGE_READY, KFORGE_PROTOCOL_VERSION, 0);
  for (kforge::runner::Packet packet; kforge::runner::receive_packet(packet);)
    if (auto served = kforge::serve(argv[1], packet, run); !served)
      kforge::runner::send_error(served.error().message.c_str());
  return 0;
}
