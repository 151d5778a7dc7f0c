// Three tensors read and written in place, several threads.
//
// task: llm/adamw_step
// shapes: odd
// mode: full
// expect: outcome=passed
// kforge: general
#include <cmath>

#include "task.h"

extern "C" void kernel(float* p, float* m, float* v, const float* gradient) {
#pragma omp parallel for
  for (long i = 0; i < task::N; ++i) {
    m[i] = 0.9f * m[i] + 0.1f * gradient[i];
    v[i] = 0.95f * v[i] + 0.05f * gradient[i] * gradient[i];
    const float direction = 1.535340f * m[i] / (std::sqrt(2.492131f * v[i]) + 1e-8f);
    p[i] -= 0.001f * (direction + 0.1f * p[i]);
  }
}
