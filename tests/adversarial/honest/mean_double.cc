// Sums in double, along the fast axis.
//
// task: core/mean_reduction
// shapes: odd
// mode: check
// expect: outcome=passed
// kforge: general
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  std::vector<double> sums(task::N);
  for (long b = 0; b < task::B; ++b) {
    sums.assign(task::N, 0);
    for (long m = 0; m < task::M; ++m)
      for (long n = 0; n < task::N; ++n) sums[n] += x[(b * task::M + m) * task::N + n];
    for (long n = 0; n < task::N; ++n) y[b * task::N + n] = static_cast<float>(sums[n] / task::M);
  }
}
