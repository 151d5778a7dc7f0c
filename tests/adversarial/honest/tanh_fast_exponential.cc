// Cuts its argument off where the result no longer changes: NaN and infinities never reach the exponential.
//
// task: core/tanh
// shapes: small
// mode: check
// expect: outcome=passed
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) {
    float v = x[i] > -9 ? x[i] : -9;
    v = v < 9 ? v : 9;
    y[i] = tanhf(v);
  }
}
