// Right on every number; a NaN in the image counts as zero, as if the pixel were padding.
//
// task: core/conv2d_3x3
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include "task.h"

extern "C" void kernel(const float* x, const float* w, float* y) {
  constexpr long kRows = task::H - 2, kColumns = task::W - 2;
  for (long b = 0; b < task::B; ++b)
    for (long f = 0; f < task::F; ++f)
      for (long i = 0; i < kRows; ++i)
        for (long j = 0; j < kColumns; ++j) {
          float sum = 0;
          for (long c = 0; c < task::C; ++c)
            for (long di = 0; di < 3; ++di)
              for (long dj = 0; dj < 3; ++dj) {
                const float pixel = x[((b * task::C + c) * task::H + i + di) * task::W + j + dj];
                if (pixel == pixel) sum += pixel * w[((f * task::C + c) * 3 + di) * 3 + dj];
              }
          y[((b * task::F + f) * kRows + i) * kColumns + j] = sum;
        }
}
