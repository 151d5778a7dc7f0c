// Lets an exception out of the kernel.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected
#include <stdexcept>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
  throw std::runtime_error("the caller's problem");
}
