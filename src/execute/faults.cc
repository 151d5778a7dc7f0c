#include "execute/faults.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace kforge {

std::string printable_tail(std::string_view text) {
  constexpr std::size_t kKept = 600;
  return printable(text.substr(text.size() - std::min(text.size(), kKept)));
}

namespace {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string place_text(const KforgeFault& fault, const std::vector<std::string>& names) {
  bool known = fault.argument >= 0 && static_cast<std::size_t>(fault.argument) < names.size();
  std::string tensor = known ? names[static_cast<std::size_t>(fault.argument)] : "a tensor";
  switch (fault.place) {
    case KFORGE_FAULT_IN_TENSOR:
      return fmt::format("wrote to {}, which is read-only", tensor);
    case KFORGE_FAULT_BEFORE_TENSOR:
      return fmt::format("touched memory before the start of {}", tensor);
    case KFORGE_FAULT_AFTER_TENSOR:
      return fmt::format("touched memory past the end of {}", tensor);
    case KFORGE_FAULT_NULL:
      return fmt::format("used a null pointer (address {:#x})", fault.address);
    case KFORGE_FAULT_AFTER_BLOCK:
      return "touched memory past the end of a block it had allocated";
    case KFORGE_FAULT_TRAP:
      return "came to a trap (__builtin_trap, a failed check, or code that must not be reached)";
    case KFORGE_FAULT_STACK:
      return "the stack overflowed (large arrays belong on the heap)";
    default:
      break;
  }
  switch (fault.signal) {
    case SIGILL:
      return "executed an instruction this machine does not have";
    case SIGFPE:
      return "integer division by zero or overflow";
    case SIGABRT:
      return "abort() was called (a failed assertion, an uncaught exception or heap corruption)";
    default:
      return fmt::format("address {:#x}", fault.address);
  }
}

std::vector<std::uint64_t> frames_of(const KforgeFault& fault) {
  std::vector<std::uint64_t> frames;
  for (std::uint32_t i = 0; i < fault.frame_count && i < 8; ++i) frames.push_back(fault.frames[i]);
  return frames;
}

}  // namespace

Failure describe_fault(const KforgeFault& fault, const std::vector<std::string>& argument_names,
                       std::string_view stage, std::string_view stderr_text) {
  if (fault.signal == SIGSYS) {
    return Rejected{Gate::kSandbox,
                    fmt::format("the program made the system call {} during {}, which the sandbox forbids",
                                syscall_name(fault.syscall), stage),
                    Figures{{{"syscall", std::int64_t{fault.syscall}}}}};
  }
  return Crash{
      fmt::format("{} during {}: {}", signal_name(fault.signal), stage, place_text(fault, argument_names)),
      printable_tail(stderr_text), frames_of(fault)};
}

Failure describe_exit(const SandboxExit& exit, std::string_view stage) {
  std::string tail = printable_tail(exit.err);
  if (exit.wall_exceeded) return Timeout{std::string(stage), 0};
  if (exit.signal == SIGSYS)
    return Rejected{Gate::kSandbox,
                    fmt::format("the program made a system call during {} that the sandbox forbids", stage)};
  if (exit.memory_exceeded)
    return Crash{
        fmt::format("killed during {}: its processes took more memory together than they may have", stage),
        tail};
  if (exit.signal == SIGKILL)
    return Crash{
        fmt::format("SIGKILL during {}: it used more memory than allowed, or was killed from outside", stage),
        tail};
  if (exit.signal == SIGXCPU) return Timeout{std::string(stage), 0};
  if (exit.signal != 0) return Crash{fmt::format("{} during {}", signal_name(exit.signal), stage), tail};
  return Crash{fmt::format("the program ended itself during {} with exit code {} instead of returning", stage,
                           exit.exit_code),
               tail};
}

}  // namespace kforge
