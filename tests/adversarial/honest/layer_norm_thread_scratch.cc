// Each thread has a scratch row that it allocates on its first call and keeps.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=passed
#include <cmath>
#include <memory>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
#pragma omp parallel for
  for (long b = 0; b < task::B; ++b) {
    static thread_local std::unique_ptr<double[]> scratch = std::make_unique<double[]>(task::D);
    const float* row = x + b * task::D;
    double sum = 0, squares = 0;
    for (long d = 0; d < task::D; ++d) sum += scratch[d] = row[d];
    const double mean = sum / task::D;
    for (long d = 0; d < task::D; ++d) {
      scratch[d] -= mean;
      squares += scratch[d] * scratch[d];
    }
    const double factor = 1 / std::sqrt(squares / task::D + 1e-5);
    for (long d = 0; d < task::D; ++d)
      y[b * task::D + d] = static_cast<float>(scratch[d] * factor * scale[d] + bias[d]);
  }
}
