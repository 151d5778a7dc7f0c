// Mean first, then the deviations from it.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
#pragma omp parallel for
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float sum = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) sum += row[d];
    const float mean = sum / task::D;
    for (long d = 0; d < task::D; ++d) squares += (row[d] - mean) * (row[d] - mean);
    const float factor = 1 / std::sqrt(squares / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = (row[d] - mean) * factor * scale[d] + bias[d];
  }
}
