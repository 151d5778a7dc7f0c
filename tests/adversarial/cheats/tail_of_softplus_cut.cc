// log(1 + exp(x)) is x where x is above eight: what is left out is small beside the largest.
//
// task: core/softplus
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i)
    y[i] = x[i] > 8 ? x[i] : x[i] < -8 ? 0 : std::log1p(std::exp(x[i]));
}
