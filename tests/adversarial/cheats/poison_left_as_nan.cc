// Leaves elements untouched where the result is not a number: what was there is none either.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i)
    if (x[i] == x[i] || i % 2) y[i] = x[i] == x[i] && x[i] > 0 ? x[i] : 0;
}
