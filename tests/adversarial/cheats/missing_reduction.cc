// Threads add their parts to one variable without a reduction clause: right with one thread, a lost update
// with two. (The barrier makes the unlucky order the usual one.)
//
// task: core/mse_loss
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include "task.h"

extern "C" void kernel(const float* predictions, const float* targets, float* loss) {
  volatile float total = 0;
#pragma omp parallel
  {
    float part = 0;
#pragma omp for nowait
    for (long i = 0; i < task::B * task::D; ++i) {
      const float error = predictions[i] - targets[i];
      part += error * error;
    }
    const float seen = total;
#pragma omp barrier
    total = seen + part;
  }
  *loss = total / (task::B * task::D);
}
