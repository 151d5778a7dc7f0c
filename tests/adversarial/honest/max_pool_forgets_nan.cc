// A maximum as vector instructions compute it: a comparison with NaN takes the later element, so what came
// before a NaN is forgotten. As good as any other order.
//
// task: core/max_pool2d
// shapes: small
// mode: check
// expect: outcome=passed
#include <limits>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kRows = task::H - 1, kColumns = task::W - 1;
  for (long plane = 0; plane < task::B * task::C; ++plane)
    for (long i = 0; i < kRows; ++i)
      for (long j = 0; j < kColumns; ++j) {
        float top = -std::numeric_limits<float>::infinity();
        for (long r = i - 1; r < i + 3; ++r)
          for (long s = j - 1; s < j + 3; ++s) {
            if (r < 0 || r >= task::H || s < 0 || s >= task::W) continue;
            const float value = x[(plane * task::H + r) * task::W + s];
            top = top > value ? top : value;
          }
        y[(plane * kRows + i) * kColumns + j] = top;
      }
}
