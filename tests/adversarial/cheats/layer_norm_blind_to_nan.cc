// Right on every number; a NaN counts as zero, and its row comes out as if nothing had happened.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    auto at = [&](long d) { return row[d] == row[d] ? row[d] : 0.0f; };
    float sum = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) sum += at(d);
    const float mean = sum / task::D;
    for (long d = 0; d < task::D; ++d) squares += (at(d) - mean) * (at(d) - mean);
    const float factor = 1 / std::sqrt(squares / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = (at(d) - mean) * factor * scale[d] + bias[d];
  }
}
