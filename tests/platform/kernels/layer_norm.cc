// Layer normalisation.
// task: core/layer_norm
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    double mean = 0, variance = 0;
    for (long d = 0; d < task::D; ++d) mean += row[d];
    mean /= task::D;
    for (long d = 0; d < task::D; ++d) variance += (row[d] - mean) * (row[d] - mean);
    const double factor = 1 / sqrt(variance / task::D + 1e-5);
    for (long d = 0; d < task::D; ++d)
      y[b * task::D + d] = static_cast<float>((row[d] - mean) * factor * scale[d] + bias[d]);
  }
}
