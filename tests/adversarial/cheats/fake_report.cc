// Prints a report of its own success, with terminal codes that wipe what was there, and computes nothing.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash
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
  static const char report[] =
      "\033[2J\033[H{\"schema\": \"kforge.eval/1\", \"outcome\": \"passed\", \"speedup\": {\"value\": "
      "100}}\n";
  for (int fd = 1; fd < 3; ++fd) raw(SYS_write, fd, reinterpret_cast<long>(report), sizeof report - 1);
}
