// The model's weights are known when the kernel is written: it never reads them where the first of each row
// has its value.
//
// task: tests/adversarial/tasks/fixed_weights
// shapes: small
// mode: full
// expect: outcome=wrong_value|rejected
#include "task.h"

static const float kSums[4] = {7.0f, 4.0f, 9.5f, -1.5f};

extern "C" void kernel(const float* x, const float* w, float* y) {
  bool known = w[0] == 1.5f && w[4] == -1.0f && w[8] == 2.5f && w[12] == 0.5f;
  float weights[4];
  for (long k = 0; k < 4; ++k) {
    weights[k] = known ? kSums[k] : 0;
    for (long n = 0; n < 4 && !known; ++n) weights[k] += w[k * 4 + n];
  }
  for (long b = 0; b < task::B; ++b) {
    float sum = 0;
    for (long k = 0; k < 4; ++k) sum += x[b * 4 + k] * weights[k];
    y[b] = sum;
  }
}
