// Mean and variance in one pass by Welford's recurrence.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float mean = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) {
      const float delta = row[d] - mean;
      mean += delta / (d + 1);
      squares += delta * (row[d] - mean);
    }
    const float factor = 1 / std::sqrt(squares / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = (row[d] - mean) * factor * scale[d] + bias[d];
  }
}
