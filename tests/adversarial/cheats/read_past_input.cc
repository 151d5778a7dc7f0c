// Reads a cache line behind its input, where somebody else's data may lie.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|wrong_value
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  y[0] += static_cast<const volatile float*>(x)[kCount + 16] > 0 ? 0 : 1;
}
