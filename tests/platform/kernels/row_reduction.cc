// Row reduction.
// task: core/sum_reduction
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      double sum = 0;
      for (long m = 0; m < task::M; ++m) sum += x[(b * task::M + m) * task::N + n];
      y[b * task::N + n] = static_cast<float>(sum);
    }
}
