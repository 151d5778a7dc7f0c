// Writes to its input without asking.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = const_cast<float*>(x)[i] = x[i] > 0 ? x[i] : 0;
}
