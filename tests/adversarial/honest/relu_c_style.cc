// C as it was written once: pointers that walk, one exit.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=passed
#include <stddef.h>

#include "task.h"

static float rectify(float v) {
  if (v > 0.0f) return v;
  return 0.0f;
}

extern "C" void kernel(const float* x, float* y) {
  const float* end = x + (size_t)task::B * (size_t)task::D;
  while (x != end) *y++ = rectify(*x++);
}
