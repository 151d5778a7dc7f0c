// Keeps scratch memory and packed weights from call to call, but packs them anew in every call: memory may be
// kept, values may not.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: full
// expect: outcome=passed
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, const float* bias, float* y) {
  static std::vector<float> packed(task::K * task::N);
  for (long n = 0; n < task::N; ++n)
    for (long k = 0; k < task::K; ++k) packed[k * task::N + n] = w[n * task::K + k];
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = bias[n];
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * packed[k * task::N + n];
      y[b * task::N + n] = sum > 0 ? 2 * sum : 0.2f * sum;
    }
}
