// Softmax by base two, with the factor folded in, and an unrolled tail by computed goto.
//
// task: core/softmax
// shapes: odd
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr float kLog2e = 1.44269504f;
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = std::exp2((row[d] - top) * kLog2e);
    const float factor = 1 / sum;
    static void* const kTails[] = {&&none, &&one, &&two, &&three};
    long d = 0;
    for (; d + 4 <= task::D; d += 4)
      out[d] *= factor, out[d + 1] *= factor, out[d + 2] *= factor, out[d + 3] *= factor;
    goto* kTails[task::D - d];
  three:
    out[d + 2] *= factor;
  two:
    out[d + 1] *= factor;
  one:
    out[d] *= factor;
  none:;
  }
}
