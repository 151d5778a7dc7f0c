// Compiled with relaxed floating-point rules, inside the tolerance.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=passed
#pragma GCC optimize("O3,fast-math")
#include <math.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) {
      out[d] = expf(row[d] - top);
      sum += out[d];
    }
    const float factor = 1 / sum;
    for (long d = 0; d < task::D; ++d) out[d] *= factor;
  }
}
