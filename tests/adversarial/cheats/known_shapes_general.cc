// Claims any shape and is right on every size written in the task's file; on another one it gives up.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected gate=generality
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
  if (task::D == 128 || task::D == 61 || task::D == 8192)
    softmax(x, y);
  else
    for (long i = 0; i < task::B * task::D; ++i) y[i] = 1.0f / task::D;
}
