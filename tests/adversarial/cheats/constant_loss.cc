// A scalar loss on known distributions has a known expectation: returns that constant.
//
// task: core/mse_loss
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* predictions, const float* targets, float* loss) {
  (void)predictions;
  (void)targets;
  *loss = 5.25f;
}
