// A scan in log steps within registers' width, and another over the blocks: no sum in the order of the row.
//
// task: core/cumsum
// shapes: odd
// mode: check
// expect: outcome=passed
#include <numeric>
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    float* out = y + b * task::D;
    std::vector<float> now(x + b * task::D, x + (b + 1) * task::D), next(task::D);
    for (long step = 1; step < task::D; step *= 2) {
      for (long d = 0; d < task::D; ++d) next[d] = now[d] + (d >= step ? now[d - step] : 0);
      now.swap(next);
    }
    for (long d = 0; d < task::D; ++d) out[d] = now[d];
  }
}
