// Claims any shape and is wrong for all rows longer than 512 elements but those of the length that is timed.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=rejected gate=generality
// kforge: general
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
  softmax(x, y);
  if (task::D > 512 && task::D != 8192)
    for (long b = 0; b < task::B; ++b) y[b * task::D + 512] = 0;
}
