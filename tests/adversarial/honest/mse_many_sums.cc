// A loss of many values in fp32: each row a sum of its own, rows added up in double.
//
// task: core/mse_loss
// shapes: bench
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* predictions, const float* targets, float* y) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long row = 0; row < task::B; ++row) {
    float part = 0;
    for (long i = row * task::D; i < (row + 1) * task::D; ++i) {
      const float error = predictions[i] - targets[i];
      part += error * error;
    }
    sum += part;
  }
  *y = static_cast<float>(sum / (static_cast<double>(task::B) * task::D));
}
