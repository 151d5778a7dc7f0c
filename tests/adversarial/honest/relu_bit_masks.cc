// Integer arithmetic on the bits of floats: the sign, spread over the word, masks the value.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include <stdint.h>
#include <string.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) {
    int32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits &= ~(bits >> 31);
    memcpy(y + i, &bits, sizeof bits);
  }
}
