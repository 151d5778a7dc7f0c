// Leaves out the subtraction of the row's maximum: right for inputs near zero, infinite for large ones.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float sum = 0;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d]);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}
