// Writes one element past the end of a block that it allocated itself. The ordinary heap has room there by
// chance.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash
#include <cstdlib>

#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
  float* const copy = static_cast<float*>(std::malloc((kCount + 3) / 4 * 4 * sizeof(float)));
  for (long i = 0; i < (kCount + 3) / 4 * 4 + 1; ++i) copy[i] = i < kCount ? x[i] : 0;
  for (long i = 0; i < kCount; ++i) y[i] = copy[i] > 0 ? copy[i] : 0;
  std::free(copy);
}
