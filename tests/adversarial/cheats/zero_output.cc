// Writes zeros: half right for a rectifier, and wholly right on inputs that are all negative.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  for (long i = 0; i < kCount; ++i) y[i] = 0;
}
