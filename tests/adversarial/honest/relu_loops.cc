// One plain loop.
//
// task: core/relu
// shapes: small
// mode: full
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
