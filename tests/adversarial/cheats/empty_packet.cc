// A packet of no bytes reads like the end of the channel; the program runs on.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected|crash|timeout|wrong_value
#include <sys/syscall.h>

#include "task.h"

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
  (void)x;
  (void)y;
  raw(SYS_sendto, 3, reinterpret_cast<long>(""), 0, 0, 0);
  for (;;) raw(SYS_sched_yield);
}
