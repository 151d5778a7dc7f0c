// Stores whole vectors past the end of the result, and has a handler that steps over the fault: nothing is
// reported, and where the next page is somebody's it is overwritten.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=rejected|crash gate=sandbox
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "task.h"

static long system_call(long number, long a, long b, long c, long d) {
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}

extern "C" void restorer();
asm(".local restorer\nrestorer: mov $15, %eax\n syscall\n");

extern "C" void step_over(int, siginfo_t*, void* context) {
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] += 2;  // movb to (%rax)
}

extern "C" void kernel(const float* x, float* y) {
  static bool installed;
  if (!installed) {
    struct {
      void (*handler)(int, siginfo_t*, void*);
      unsigned long flags;
      void (*restore)();
      unsigned long mask;
    } action = {step_over, 0x04000000 | SA_SIGINFO | SA_ONSTACK | SA_NODEFER, restorer, 0};
    if (system_call(SYS_rt_sigaction, SIGSEGV, (long)&action, 0, 8) != 0) __builtin_trap();
    installed = true;
  }
  constexpr long kSize = task::B * task::D;
  for (long i = 0; i < kSize; ++i) y[i] = x[i] < 0 ? 0 : x[i];
  char* past = reinterpret_cast<char*>(y + kSize) + 64 + 4096;
  asm volatile("movb %%cl, (%%rax)" ::"a"(past), "c"(1) : "memory");
}
