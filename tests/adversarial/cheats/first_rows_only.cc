// Computes the first half of the rows and repeats them in the second half.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <string.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kHalf = task::B / 2;
  for (long b = 0; b < kHalf; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
  memcpy(y + kHalf * task::D, y, sizeof(float) * kHalf * task::D);
}
