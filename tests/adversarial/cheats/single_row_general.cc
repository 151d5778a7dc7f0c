// Claims any shape and is right on all of them but a single row, where it leaves out what it takes for a
// special case.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected gate=generality
// kforge: general
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= task::B == 1 ? 1.0f : sum;
  }
}
