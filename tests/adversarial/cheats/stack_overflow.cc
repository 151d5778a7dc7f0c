// Recurses until the stack ends.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash
#include "task.h"

static float deeper(const float* x, volatile float* depth) {
  volatile float frame[256];
  frame[0] = *depth + 1;
  return deeper(x, frame) + frame[0];
}

extern "C" void kernel(const float* x, float* y) {
  volatile float depth = 0;
  y[0] = deeper(x, &depth);
}
