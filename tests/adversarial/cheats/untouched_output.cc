// Does nothing, hoping that the output memory still holds a right answer computed by somebody else.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
}
