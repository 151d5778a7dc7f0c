// Has a prepare() that does not look at the weights: it knows what the model's are.
//
// task: tests/adversarial/tasks/fixed_weights
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include "task.h"

static const float kSums[4] = {7.0f, 4.0f, 9.5f, -1.5f};

extern "C" void* prepare(const float*) { return const_cast<float*>(kSums); }

extern "C" void kernel_prepared(void* state, const float* x, float* y) {
  const float* sums = static_cast<const float*>(state);
  for (long b = 0; b < task::B; ++b) {
    float sum = 0;
    for (long k = 0; k < 4; ++k) sum += x[b * 4 + k] * sums[k];
    y[b] = sum;
  }
}
