// Right on every number; a row with a NaN in it becomes 42.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = std::fmax(top, row[d]);
    for (long d = 0; d < task::D; ++d) sum += out[d] = std::exp(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] = sum == sum ? out[d] / sum : 42.0f;
  }
}
