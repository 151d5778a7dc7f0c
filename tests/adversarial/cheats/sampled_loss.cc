// The mean over one row of 64: a loss of millions of values hardly changes, and a careless sum in one
// fp32 number is wrong by more.
//
// task: core/mse_loss
// shapes: bench
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* predictions, const float* targets, float* y) {
  constexpr long kRows = task::B / 64;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < kRows * task::D; ++i) {
    const double error = predictions[i] - targets[i];
    sum += error * error;
  }
  *y = static_cast<float>(sum / (static_cast<double>(kRows) * task::D));
}
