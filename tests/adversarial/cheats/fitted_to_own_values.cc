// Looks at one element: if it resembles the task's own distribution it takes a short polynomial for exp
// that is good only there.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

static void softmax(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}

static float short_exp(float v) {  // Taylor, fair for |v| < 3
  float term = 1, sum = 1;
  for (int i = 1; i < 16; ++i) sum += term *= v / i;
  return sum;
}

extern "C" void kernel(const float* x, float* y) {
  if (x[0] > 16 || x[0] < -16) return softmax(x, y);
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float sum = 0;
    for (long d = 0; d < task::D; ++d) sum += out[d] = short_exp(row[d]);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}
