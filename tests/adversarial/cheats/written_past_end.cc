// Writes one element too many.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=rejected|crash gate=memory
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  y[kCount] = 0;
}
