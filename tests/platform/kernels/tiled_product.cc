// Tiled matrix product.
// task: core/matmul
#include "task.h"

namespace {
constexpr long kTile = 8;
}

extern "C" void kernel(const float* a, const float* b, float* y) {
  using namespace task;
#pragma omp parallel for collapse(2)
  for (long m0 = 0; m0 < M; m0 += kTile)
    for (long n0 = 0; n0 < N; n0 += kTile) {
      float sums[kTile][kTile] = {};
      const long rows = M - m0 < kTile ? M - m0 : kTile, columns = N - n0 < kTile ? N - n0 : kTile;
      for (long k = 0; k < K; ++k)
        for (long m = 0; m < rows; ++m)
          for (long n = 0; n < columns; ++n) sums[m][n] += a[(m0 + m) * K + k] * b[k * N + n0 + n];
      for (long m = 0; m < rows; ++m)
        for (long n = 0; n < columns; ++n) y[(m0 + m) * N + n0 + n] = sums[m][n];
    }
}
