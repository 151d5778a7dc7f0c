// SIGFPE from an integer division.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  volatile int dividend = 7, zero = 0;
  y[0] = static_cast<float>(dividend / zero);
}
