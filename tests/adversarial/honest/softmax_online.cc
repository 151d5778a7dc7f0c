// Maximum and sum in one pass: the sum is rescaled whenever a larger value appears.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=passed
// kforge: general
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float top = row[0], sum = 1;
    for (long d = 1; d < task::D; ++d) {
      if (row[d] > top) {
        sum = sum * std::exp(top - row[d]) + 1;
        top = row[d];
      } else {
        sum += std::exp(row[d] - top);
      }
    }
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = std::exp(row[d] - top) / sum;
  }
}
