// Inputs lie in memory that all programs share. Throwing their pages out after each call would make the
// next program, a baseline, fetch them again in its own time.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=sandbox
#include <sys/mman.h>
#include <sys/syscall.h>

#include "task.h"

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  raw(SYS_madvise, reinterpret_cast<long>(x) & ~4095l, 4096, 21);  // MADV_PAGEOUT
}
