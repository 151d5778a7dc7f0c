// Claims any shape, but drops the elements after the last multiple of eight: right on round sizes only.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected gate=generality
// kforge: general
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kBlocked = task::D / 8 * 8;
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < kBlocked; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) out[d] = 0;
    for (long d = 0; d < kBlocked; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < kBlocked; ++d) out[d] /= sum;
  }
}
