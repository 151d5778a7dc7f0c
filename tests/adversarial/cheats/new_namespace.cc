// Makes a user namespace in which it would be root.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected
#include <sys/syscall.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

extern "C" void kernel(const float* x, float* y) {
  if (raw(SYS_unshare, 0x10000000) != 0) __builtin_trap();
  relu(x, y);
}
