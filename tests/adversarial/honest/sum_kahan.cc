// Compensated sums.
//
// task: core/sum_reduction
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = 0, lost = 0;
      for (long m = 0; m < task::M; ++m) {
        const float term = x[(b * task::M + m) * task::N + n] - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
      }
      y[b * task::N + n] = sum;
    }
}
