// Writes the answer that is right on average: every probability 1/D. A loose absolute tolerance lets it
// through.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  for (long i = 0; i < task::B * task::D; ++i) y[i] = 1.0f / task::D;
}
