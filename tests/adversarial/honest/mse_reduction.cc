// A reduction clause over two collapsed loops.
//
// task: core/mse_loss
// shapes: small
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* predictions, const float* targets, float* loss) {
  float total = 0;
#pragma omp parallel for collapse(2) reduction(+ : total)
  for (long b = 0; b < task::B; ++b)
    for (long d = 0; d < task::D; ++d) {
      const float error = predictions[b * task::D + d] - targets[b * task::D + d];
      total += error * error;
    }
  *loss = total / (task::B * task::D);
}
