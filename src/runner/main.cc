// kforge-runner: the program inside the sandbox. It maps the tensors the parent made, loads one candidate and
// calls it on request. It shares its process with hostile code, so the parent believes nothing it says.
//
//   kforge-runner CANDIDATE.so [--load-filter FD] [--run-filter FD] [--libraries FOLDER]...
//
// libgomp, libm, libstdc++ and libgcc_s are linked in, hence loaded before any filter: loading a candidate
// opens its own file and no other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/runner_state.h"

namespace kforge::runner {

RunnerState runner_state;

namespace {

bool read_arguments(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  runner_state.path = argv[1];
  int readable = 0;
  runner_state.readable[readable++] = runner_state.path;
  for (int i = 2; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (!value) return false;
    if (!strcmp(argv[i], "--load-filter")) {
      runner_state.load_filter = atoi(value);
    } else if (!strcmp(argv[i], "--run-filter")) {
      runner_state.run_filter = atoi(value);
    } else if (!strcmp(argv[i], "--libraries") && readable < kMostReadable) {
      runner_state.readable[readable++] = value;
    } else {
      return false;
    }
  }
  return true;
}

// Intel's tile registers are off until a process asks for them; candidates may use them without asking.
void request_amx() {
#if defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  syscall(SYS_arch_prctl, kRequestPermission, kTileData);  // refused where there are none
#endif
}

void serve(const Packet& packet) {
  runner_state.stage = packet.head.type;
  switch (packet.head.type) {
    case KFORGE_SETUP:
      return set_up(packet);
    case KFORGE_LOAD:
      return load();
    case KFORGE_PREPARE:
      return prepare();
    case KFORGE_CALL:
      return call(packet);
    case KFORGE_ECHO:
      return send_done(0, 0);
    case KFORGE_EXIT:
      release_state();
      fflush(nullptr);  // what the candidate printed
      _exit(0);
    default:
      return send_error("unknown message");
  }
}

}  // namespace
}  // namespace kforge::runner

int main(int argc, char** argv) {
  using namespace kforge::runner;
  if (!read_arguments(argc, argv)) {
    fputs("usage: kforge-runner CANDIDATE.so [--load-filter FD] [--run-filter FD] [--libraries FOLDER]...\n",
          stderr);
    return 2;
  }
  install_crash_handlers();
  request_amx();
  send_message(KFORGE_READY, KFORGE_PROTOCOL_VERSION, 0);
  for (Packet packet; receive_packet(packet);) {
    serve(packet);
    runner_state.stage = 0;
  }
  _exit(0);
}
