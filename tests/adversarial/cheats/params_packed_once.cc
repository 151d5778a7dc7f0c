// Packs the weights without prepare(), in the first call, and packs them again only when one of a few of them
// has changed.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <string.h>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* bias, float* y) {
  static float packed[task::K * task::N], seen[64];
  if (memcmp(seen, w, sizeof seen) != 0) {
    memcpy(seen, w, sizeof seen);
    for (long n = 0; n < task::N; ++n)
      for (long k = 0; k < task::K; ++k) packed[k * task::N + n] = w[n * task::K + k];
  }
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = bias[n];
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * packed[k * task::N + n];
      y[b * task::N + n] = sum > 0 ? 2 * sum : 0.2f * sum;
    }
}
