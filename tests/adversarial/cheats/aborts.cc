// abort().
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected
#include <stdlib.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
  abort();
}
