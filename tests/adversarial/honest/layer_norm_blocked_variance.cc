// One pass over blocks of sixteen, each with its own mean and sum of squares, merged by the formula of
// Chan.
//
// task: core/layer_norm
// shapes: odd
// mode: full
// expect: outcome=passed
// kforge: general
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  constexpr long kBlock = 16;
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float count = 0, mean = 0, squares = 0;
    for (long first = 0; first < task::D; first += kBlock) {
      const long size = task::D - first < kBlock ? task::D - first : kBlock;
      float block_sum = 0, block_squares = 0;
      for (long d = 0; d < size; ++d) block_sum += row[first + d];
      const float block_mean = block_sum / size;
      for (long d = 0; d < size; ++d)
        block_squares += (row[first + d] - block_mean) * (row[first + d] - block_mean);
      const float delta = block_mean - mean, total = count + size;
      mean += delta * (size / total);
      squares += block_squares + delta * delta * (count * size / total);
      count = total;
    }
    const float factor = 1 / std::sqrt(squares / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[b * task::D + d] = (row[d] - mean) * factor * scale[d] + bias[d];
  }
}
