// Variance as the mean of squares minus the square of the mean, in fp32: cancels to nothing when the mean
// is large.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float sum = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) {
      sum += row[d];
      squares += row[d] * row[d];
    }
    const float mean = sum / task::D, variance = squares / task::D - mean * mean;
    const float factor = 1.0f / __builtin_sqrtf(variance + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = (row[d] - mean) * factor * scale[d] + bias[d];
  }
}
