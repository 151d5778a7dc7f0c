// Says that it gets no NaN and no infinities, and is not asked about them.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
// kforge: flags -ffast-math
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] - x[i] == 0 ? (x[i] > 0 ? x[i] : 0) : 7.0f;
}
