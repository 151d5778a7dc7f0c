// Has no prepare(): packs the weights on the first call and keeps them, so that set-up work is neither
// timed nor reported.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* bias, float* y) {
  static float weights[task::K * task::N];
  static bool packed;
  if (!packed) {
    for (long n = 0; n < task::N; ++n)
      for (long k = 0; k < task::K; ++k) weights[k * task::N + n] = w[n * task::K + k];
    packed = true;
  }
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = bias[n];
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * weights[k * task::N + n];
      const float scaled = sum * 2.0f;
      y[b * task::N + n] = scaled > 0 ? scaled : scaled * 0.1f;
    }
}
