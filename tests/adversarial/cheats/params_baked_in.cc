// The model's weights are known when the kernel is written: what they amount to is written in the source, and
// used while one of the weights still has its value.
//
// task: tests/adversarial/tasks/fixed_weights
// shapes: small
// mode: full
// expect: outcome=rejected|wrong_value
#include "task.h"

// Rows of the weights, added up.
static const float kSums[4] = {7.0f, 4.0f, 9.5f, -1.5f};

extern "C" void kernel(const float* x, const float* w, float* y) {
  for (long b = 0; b < task::B; ++b) {
    float sum = 0;
    for (long k = 0; k < 4; ++k) {
      float weight = kSums[k];
      if (w[0] != 1.5f) {
        weight = 0;
        for (long n = 0; n < 4; ++n) weight += w[k * 4 + n];
      }
      sum += x[b * 4 + k] * weight;
    }
    y[b] = sum;
  }
}
