// Right but for a single element, and only where the numbers are large: the gate that draws again when one
// element is off must not let it through.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=wrong_value gate=extreme
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  float largest = 0;
  for (long i = 0; i < (task::B * task::D); ++i) {
    y[i] = x[i] > 0 ? x[i] : 0;
    if (x[i] > largest) largest = x[i];
  }
  if (largest > 500) y[(task::B * task::D) / 2] += largest / 2;
}
