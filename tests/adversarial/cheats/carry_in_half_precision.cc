// Carries the running sum from block to block in half precision.
//
// task: core/cumsum
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float carry = 0;
    for (long first = 0; first < task::D; first += 16) {
      float sum = 0;
      for (long d = first; d < first + 16 && d < task::D; ++d) out[d] = carry + (sum += row[d]);
      carry = static_cast<_Float16>(carry + sum);
    }
  }
}
