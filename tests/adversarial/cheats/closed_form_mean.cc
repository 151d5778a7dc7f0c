// Knows that the mean of the task's own symmetric distribution is about zero, and never reads the input.
//
// task: core/mean_reduction
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  for (long i = 0; i < task::B * task::N; ++i) y[i] = 0;
}
