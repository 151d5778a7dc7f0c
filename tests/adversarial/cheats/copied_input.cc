// The identity in place of the computation.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <string.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) { memcpy(y, x, sizeof(float) * task::B * task::D); }
