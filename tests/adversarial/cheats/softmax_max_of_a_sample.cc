// Looks at two elements of each row: where they are small, it leaves out the maximum.
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
    float largest = 0, top = 0, sum = 0;
    for (long d = 0; d < task::D; d += task::D / 2) {
      float size = row[d] < 0 ? -row[d] : row[d];
      if (!(size <= largest)) largest = size;
    }
    if (!(largest < 20)) {
      top = row[0];
      for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    }
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}
