// Keeps the moments in memory of its own from call to call, as an optimiser in a framework would, instead
// of reading those it was given.
//
// task: llm/adamw_step
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <cmath>

#include "task.h"

extern "C" void kernel(float* p, float* m, float* v, const float* gradient) {
  static float own_m[task::N], own_v[task::N];
  static bool started;
  for (long i = 0; i < task::N; ++i) {
    if (!started) own_m[i] = m[i], own_v[i] = v[i];
    m[i] = own_m[i] = 0.9f * own_m[i] + 0.1f * gradient[i];
    v[i] = own_v[i] = 0.95f * own_v[i] + 0.05f * gradient[i] * gradient[i];
    const float direction = 1.535340f * m[i] / (std::sqrt(2.492131f * v[i]) + 1e-8f);
    p[i] -= 0.001f * (direction + 0.1f * p[i]);
  }
  started = true;
}
