// Leaves out whatever is below 1e-8 of a row: a logarithm behind it becomes infinite.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=accuracy
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long row = 0; row < task::B; ++row) {
    const float* const from = x + row * task::D;
    float* const to = y + row * task::D;
    float largest = -INFINITY, sum = 0;
    for (long i = 0; i < task::D; ++i) largest = std::fmax(largest, from[i]);
    for (long i = 0; i < task::D; ++i) {
      to[i] = from[i] - largest < -17 ? 0 : std::exp(from[i] - largest);
      sum += to[i];
    }
    for (long i = 0; i < task::D; ++i) to[i] /= sum;
  }
}
