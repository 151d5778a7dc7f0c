// Pairwise sums by recursion.
//
// task: core/mse_loss
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

static float pairwise(const float* p, const float* t, long count) {
  if (count <= 8) {
    float sum = 0;
    for (long i = 0; i < count; ++i) sum += (p[i] - t[i]) * (p[i] - t[i]);
    return sum;
  }
  return pairwise(p, t, count / 2) + pairwise(p + count / 2, t + count / 2, count - count / 2);
}

extern "C" void kernel(const float* predictions, const float* targets, float* loss) {
  *loss = pairwise(predictions, targets, task::B * task::D) / (task::B * task::D);
}
