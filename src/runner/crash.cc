// When the candidate crashes: says where, as far as it can be known, then ends the process. Everything here
// runs in a signal handler, on its own stack, in a process whose memory the candidate may have spoilt: it
// uses only what was prepared before, and a second crash inside the report sends what is known so far.
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "runner/runner_state.h"

namespace kforge::runner {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
constexpr uintptr_t kNullZone = 64 << 10;
constexpr uintptr_t kStackZone = 64 << 10;

alignas(16) char handler_stack[64 << 10];
KforgeFault fault;
volatile long reporting_thread = 0;

struct Machine {
  uintptr_t instruction = 0, stack = 0;
  uintptr_t first = 0, third = 0;  // arguments, of a system call that was refused
};

Machine machine_of(void* context) {
  [[maybe_unused]] auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto get = [&](int which) { return static_cast<uintptr_t>(registers.gregs[which]); };
  return {get(REG_RIP), get(REG_RSP), get(REG_RDI), get(REG_RDX)};
#elif defined(__aarch64__)
  return {registers.pc, registers.sp, registers.regs[0], registers.regs[2]};
#elif defined(__riscv)
  return {static_cast<uintptr_t>(registers.__gregs[REG_PC]),
          static_cast<uintptr_t>(registers.__gregs[REG_SP]),
          static_cast<uintptr_t>(registers.__gregs[REG_A0]),
          static_cast<uintptr_t>(registers.__gregs[REG_A0 + 2])};
#else
  return {};
#endif
}

struct Range {
  uintptr_t base = 0, end = 0;
  bool has(uintptr_t address) const { return address >= base && address < end; }
};

int note_candidate(dl_phdr_info* info, size_t, void* result) {
  if (!info->dlpi_name || strcmp(info->dlpi_name, runner_state.path) != 0) return 0;
  auto* range = static_cast<Range*>(result);
  range->base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    uintptr_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    if (part.p_type == PT_LOAD && end > range->end) range->end = end;
  }
  return 1;
}

// abort() sends itself a signal. The filter refuses that, for it cannot see to whom a signal goes.
bool aborts_itself(const siginfo_t* info, const Machine& machine) {
  return info->si_signo == SIGSYS && info->si_syscall == SYS_tgkill &&
         static_cast<int>(machine.third) == SIGABRT && static_cast<pid_t>(machine.first) == getpid();
}

// Which tensor an address belongs to, its guards included.
bool place_in_tensor(uintptr_t address) {
  for (uint32_t i = 0; i < runner_state.argument_count; ++i) {
    const Argument& argument = runner_state.arguments[i];
    uintptr_t region = reinterpret_cast<uintptr_t>(argument.region);
    if (address < region || address >= region + argument.region_bytes) continue;
    size_t offset = address - region;
    size_t slot = offset / argument.step(), inside = offset % argument.step();
    fault.argument = static_cast<int32_t>(i);
    // Between two slots lies one guard: its first half is past the earlier tensor, its second before the
    // later.
    if (inside >= kGuardBytes)
      fault.place = KFORGE_FAULT_IN_TENSOR;
    else if (slot == argument.slots || (slot > 0 && inside < kGuardBytes / 2))
      fault.place = KFORGE_FAULT_AFTER_TENSOR;
    else
      fault.place = KFORGE_FAULT_BEFORE_TENSOR;
    return true;
  }
  return false;
}

void find_place(const siginfo_t* info, const Machine& machine) {
  fault.argument = -1;
  if (info->si_signo == SIGSYS) {
    fault.syscall = info->si_syscall;
    return;
  }
#if defined(__x86_64__)
  if (info->si_signo == SIGILL) {
    // ud2: what compilers put where a program must not come.
    const auto* code = reinterpret_cast<const unsigned char*>(machine.instruction);
    if (code[0] == 0x0f && code[1] == 0x0b) fault.place = KFORGE_FAULT_TRAP;
  }
#endif
  if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS) return;
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (place_in_tensor(address)) return;
  // A general protection fault (a non-canonical or misaligned address) has no address to tell.
  if (info->si_code == SI_KERNEL) return;
  if (address < kNullZone)
    fault.place = KFORGE_FAULT_NULL;
  else if (address + kStackZone > machine.stack && address < machine.stack + kStackZone)
    fault.place = KFORGE_FAULT_STACK;
#ifdef KFORGE_GUARDED_HEAP
  else if (info->si_code == SEGV_ACCERR)
    fault.place = KFORGE_FAULT_AFTER_BLOCK;
#endif
}

struct Walk {
  Range candidate;
  uintptr_t skip_to = 0;  // the interrupted instruction: frames before it are the handler's own
};

void add_frame(const Walk& walk, uintptr_t address) {
  if (fault.frame_count < sizeof fault.frames / sizeof fault.frames[0])
    fault.frames[fault.frame_count++] = walk.candidate.has(address) ? address - walk.candidate.base : 0;
}

_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* data) {
  auto* walk = static_cast<Walk*>(data);
  uintptr_t address = _Unwind_GetIP(context);
  if (walk->skip_to) {
    if (address == walk->skip_to) walk->skip_to = 0;
    return _URC_NO_REASON;
  }
  add_frame(*walk, address);
  return fault.frame_count < 8 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void find_frames(const Machine& machine) {
  Walk walk;
  dl_iterate_phdr(note_candidate, &walk.candidate);
  walk.skip_to = machine.instruction;
  add_frame(walk, machine.instruction);
  _Unwind_Backtrace(visit_frame, &walk);
}

[[noreturn]] void send_and_end(int signal) {
  send_message(KFORGE_FAULT, 0, 0, &fault, sizeof fault);
  _exit(128 + signal);
}

void on_crash(int signal, siginfo_t* info, void* context) {
  long self = syscall(SYS_gettid);
  long nobody = 0;
  if (!__atomic_compare_exchange_n(&reporting_thread, &nobody, self, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST)) {
    if (nobody == self) send_and_end(signal);  // crashed in the report: send what is known
    for (;;) pause();                          // another thread is reporting and will end the process
  }
  Machine machine = machine_of(context);
  if (aborts_itself(info, machine)) info->si_signo = signal = SIGABRT;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<uintptr_t>(info->si_addr);
  fault.stage = static_cast<int32_t>(runner_state.stage);
  fault.slot = runner_state.slot;
  find_place(info, machine);
  find_frames(machine);
  send_and_end(signal);
}

}  // namespace

void install_crash_handlers() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace kforge::runner
