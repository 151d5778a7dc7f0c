// Four megabytes of the stack as scratch, and recursion that halves each row.
//
// task: core/layer_norm
// shapes: small
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

static float sum(const float* from, long count) {
  return count == 1 ? *from : sum(from, count / 2) + sum(from + count / 2, count - count / 2);
}

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  float scratch[1 << 20];
  for (long b = 0; b < task::B; ++b) {
    float* row = scratch + b * (sizeof scratch / sizeof(float) / task::B) / 2;
    const float mean = sum(x + b * task::D, task::D) / task::D;
    for (long d = 0; d < task::D; ++d) {
      const float apart = x[b * task::D + d] - mean;
      row[d] = apart * apart;
    }
    const float factor = 1 / std::sqrt(sum(row, task::D) / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d)
      y[b * task::D + d] = (x[b * task::D + d] - mean) * factor * scale[d] + bias[d];
  }
}
