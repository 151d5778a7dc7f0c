// The norm of a sixteenth of the tensor, scaled up.
//
// task: core/frobenius_norm
// shapes: bench
// mode: check
// expect: outcome=wrong_value
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kCount = task::B * task::C * task::H * task::W;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < kCount / 16; ++i) sum += static_cast<double>(x[i]) * x[i];
  const float factor = static_cast<float>(1 / std::sqrt(sum * 16));
#pragma omp parallel for
  for (long i = 0; i < kCount; ++i) y[i] = x[i] * factor;
}
