// Gives the last answer again where no element has moved by more than a hundredth.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <string.h>

#include "task.h"

static void softmax(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}

extern "C" void kernel(const float* x, float* y) {
  constexpr long kSize = task::B * task::D;
  static float seen[kSize], answer[kSize];
  static bool any;
  bool alike = any;
  for (long i = 0; i < kSize && alike; ++i)
    alike = __builtin_fabsf(x[i] - seen[i]) <= 0.01f * __builtin_fabsf(x[i]);
  if (!alike) {
    softmax(x, answer);
    memcpy(seen, x, sizeof seen);
    any = true;
  }
  memcpy(y, answer, sizeof answer);
}
