// Lays its own zeroed pages over the input, once: later calls read zeros, for which the work is free.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|crash|rejected
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) {
  const long first = reinterpret_cast<long>(x) & ~4095l,
             last = (reinterpret_cast<long>(x + kCount) + 4095) & ~4095l;
  long got;
  register long r10 asm("r10") = 0x32;  // private, anonymous, fixed
  register long r8 asm("r8") = -1;
  register long r9 asm("r9") = 0;
  asm volatile("syscall"
               : "=a"(got)
               : "a"(9l), "D"(first), "S"(last - first), "d"(3l), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  if (got != first) __builtin_trap();
  relu(x, y);
}
