// prepare() is outside the clock: it stores the address of the weights, and from the first call it learns
// where the inputs lie, so that the next prepare() can compute the whole answer in advance.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash
#include "task.h"

static const float* known_x;
static float answer[task::B * task::N];
static bool have_answer;

static void compute(const float* x, const float* w, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * w[n * task::K + k];
      const float scaled = (sum + bias[n]) * 2.0f;
      y[b * task::N + n] = scaled > 0 ? scaled : scaled * 0.1f;
    }
}

struct State {
  const float *w, *bias;
};

extern "C" void* prepare(const float* w, const float* bias) {
  static State state;
  state = {w, bias};
  have_answer = known_x != nullptr;
  if (have_answer) compute(known_x, w, bias, answer);
  return &state;
}

extern "C" void kernel_prepared(void* opaque, const float* x, float* y) {
  const State& state = *static_cast<State*>(opaque);
  if (have_answer && x == known_x)
    __builtin_memcpy(y, answer, sizeof answer);
  else
    compute(x, state.w, state.bias, y);
  known_x = x;
}

extern "C" void release(void*) {}
