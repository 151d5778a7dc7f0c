// libm's erf in float, from several threads.
//
// task: core/gelu
// shapes: odd
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for
  for (long i = 0; i < task::B * task::D; ++i) y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));
}
