// Defines clock_gettime, so that a harness in the same process reads a clock that stands still.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=symbols
#include <time.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" int clock_gettime(clockid_t, timespec* out) noexcept {
  *out = {};
  return 0;
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
