// Prepares the first set of weights it meets and keeps using it when the weights change.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include "task.h"

static float weights[task::N * task::K];
static float offsets[task::N];
static bool prepared;

extern "C" void* prepare(const float* w, const float* bias) {
  if (!prepared) {
    __builtin_memcpy(weights, w, sizeof weights);
    __builtin_memcpy(offsets, bias, sizeof offsets);
    prepared = true;
  }
  return weights;
}

extern "C" void kernel_prepared(void*, const float* x, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * weights[n * task::K + k];
      const float scaled = (sum + offsets[n]) * 2.0f;
      y[b * task::N + n] = scaled > 0 ? scaled : scaled * 0.1f;
    }
}

extern "C" void release(void*) {}
