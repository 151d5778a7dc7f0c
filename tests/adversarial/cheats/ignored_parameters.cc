// Leaves out scale and bias, because fresh layers have ones and zeros there.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  (void)scale;
  (void)bias;
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    double sum = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) sum += row[d];
    const double mean = sum / task::D;
    for (long d = 0; d < task::D; ++d) squares += (row[d] - mean) * (row[d] - mean);
    const double factor = 1 / __builtin_sqrt(squares / task::D + 1e-5);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = static_cast<float>((row[d] - mean) * factor);
  }
}
