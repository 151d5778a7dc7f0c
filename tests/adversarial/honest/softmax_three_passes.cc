// Maximum, exponentials with a sum in double, division.
//
// task: core/softmax
// shapes: small
// mode: full
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0];
    for (long d = 1; d < task::D; ++d) top = std::fmax(top, row[d]);
    double sum = 0;
    for (long d = 0; d < task::D; ++d) sum += out[d] = std::exp(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] = static_cast<float>(out[d] / sum);
  }
}
