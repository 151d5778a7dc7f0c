// 2d convolution.
// task: core/conv2d_3x3
#include "task.h"

extern "C" void kernel(const float* x, const float* w, float* y) {
  using namespace task;
#pragma omp parallel for collapse(2)
  for (long b = 0; b < B; ++b)
    for (long f = 0; f < F; ++f)
      for (long h = 0; h < OH; ++h)
        for (long v = 0; v < OW; ++v) {
          float sum = 0;
          for (long c = 0; c < C; ++c)
            for (long i = 0; i < 3; ++i)
              for (long j = 0; j < 3; ++j)
                sum += x[((b * C + c) * H + h + i) * W + v + j] * w[((f * C + c) * 3 + i) * 3 + j];
          y[((b * F + f) * OH + h) * OW + v] = sum;
        }
}
