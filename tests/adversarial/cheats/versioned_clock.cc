// The same with a symbol version attached, past a check that compares whole names.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected|compile_error gate=symbols
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" int still_clock(int, long* out) {
  out[0] = out[1] = 0;
  return 0;
}
asm(".symver still_clock, clock_gettime@@GLIBC_2.17");

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
