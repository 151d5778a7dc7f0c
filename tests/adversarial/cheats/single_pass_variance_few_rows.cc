// The variance in a single pass, where a normalisation follows a product and rows are few.
//
// task: fusion/gemm_groupnorm_hardtanh
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* bias, const float* scale,
                       const float* shift, float* y) {
  constexpr long kGroup = task::N / 16;
  for (long b = 0; b < task::B; ++b)
    for (long g = 0; g < 16; ++g) {
      float values[kGroup], sum = 0, squares = 0;
      for (long i = 0; i < kGroup; ++i) {
        long n = g * kGroup + i;
        float value = bias[n];
        for (long k = 0; k < task::K; ++k) value += x[b * task::K + k] * w[n * task::K + k];
        values[i] = value, sum += value, squares += value * value;
      }
      float mean = sum / kGroup, variance = squares / kGroup - mean * mean;
      if (variance < 0) variance = 0;
      float factor = 1 / std::sqrt(variance + 1e-5f);
      for (long i = 0; i < kGroup; ++i) {
        long n = g * kGroup + i;
        float v = (values[i] - mean) * factor * scale[n] + shift[n];
        y[b * task::N + n] = v < -2 ? -2 : v > 2 ? 2 : v;
      }
    }
}
