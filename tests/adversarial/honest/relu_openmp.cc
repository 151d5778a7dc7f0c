// Threads share the elements statically.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
// kforge: general
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
