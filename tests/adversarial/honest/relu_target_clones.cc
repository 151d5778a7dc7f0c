// Two versions of one function, chosen while loading by the compiler's own means.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

__attribute__((target_clones("avx2", "default"))) void rectify(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}

extern "C" void kernel(const float* x, float* y) { rectify(x, y); }
