// Asks OpenMP for thousands of threads. It may be refused or ignored, but it must not take the machine.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected|timeout|passed
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for num_threads(5000)
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
