// Chooses its loop by what the processor can do.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

__attribute__((target("avx512f"))) static void wide(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}
static void narrow(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}

extern "C" void kernel(const float* x, float* y) {
  __builtin_cpu_init();
  (__builtin_cpu_supports("avx512f") ? wide : narrow)(x, y);
}
