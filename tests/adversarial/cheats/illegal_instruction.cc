// SIGILL.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
  asm volatile("ud2");
}
