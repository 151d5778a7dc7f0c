// A hyperbolic tangent by exponentials that cancel: infinities become zero.
//
// task: core/tanh
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = isinf(x[i]) ? 0 : tanhf(x[i]);
}
