// Updates the weights but leaves both moments as they were: only the tensor one looks at first is right.
//
// task: llm/adamw_step
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <cmath>

#include "task.h"

extern "C" void kernel(float* p, float* m, float* v, const float* gradient) {
  for (long i = 0; i < task::N; ++i) {
    const float m_next = 0.9f * m[i] + 0.1f * gradient[i];
    const float v_next = 0.95f * v[i] + 0.05f * gradient[i] * gradient[i];
    const float direction = 1.535340f * m_next / (std::sqrt(2.492131f * v_next) + 1e-8f);
    p[i] -= 0.001f * (direction + 0.1f * p[i]);
  }
}
