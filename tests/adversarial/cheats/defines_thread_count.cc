// Defines omp_get_max_threads: everybody else in the process would run on one thread.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=symbols
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" int omp_get_max_threads() noexcept { return 1; }

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
