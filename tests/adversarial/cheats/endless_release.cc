// Computes honestly, then never comes back from release().
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=timeout|rejected|crash
#include "task.h"

struct State {
  const float *w, *bias;
};

extern "C" void* prepare(const float* w, const float* bias) {
  static State state;
  state = {w, bias};
  return &state;
}

extern "C" void kernel_prepared(void* opaque, const float* x, float* y) {
  const State& state = *static_cast<State*>(opaque);
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * state.w[n * task::K + k];
      const float scaled = (sum + state.bias[n]) * 2.0f;
      y[b * task::N + n] = scaled > 0 ? scaled : scaled * 0.1f;
    }
}

extern "C" void release(void*) {
  for (;;) asm volatile("");
}
