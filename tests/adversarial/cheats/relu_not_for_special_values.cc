// Right on every ordinary number; NaN, infinities and denormals become 42.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) {
    const bool ordinary = __builtin_isnormal(x[i]) || x[i] == 0;
    y[i] = ordinary ? (x[i] > 0 ? x[i] : 0) : 42.0f;
  }
}
