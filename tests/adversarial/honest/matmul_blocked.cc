// Blocked, with a packed panel of b in a vector and a micro-kernel made by a template.
//
// task: core/matmul
// shapes: odd
// mode: check
// expect: outcome=passed
// kforge: general
#include <algorithm>
#include <vector>

#include "task.h"

template <int Rows, int Columns>
static void micro_kernel(const float* a, const float* panel, float* c, long rows, long columns) {
  float sums[Rows][Columns] = {};
  for (long k = 0; k < task::K; ++k)
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j)
        sums[i][j] += (i < rows ? a[i * task::K + k] : 0) * panel[k * Columns + j];
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j) c[i * task::N + j] = sums[i][j];
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  constexpr int kRows = 4, kColumns = 16;
  std::vector<float> panel(task::K * kColumns);
  for (long j = 0; j < task::N; j += kColumns) {
    const long columns = std::min<long>(kColumns, task::N - j);
    for (long k = 0; k < task::K; ++k)
      for (long q = 0; q < kColumns; ++q) panel[k * kColumns + q] = q < columns ? b[k * task::N + j + q] : 0;
    for (long i = 0; i < task::M; i += kRows)
      micro_kernel<kRows, kColumns>(a + i * task::K, panel.data(), c + i * task::N + j,
                                    std::min<long>(kRows, task::M - i), columns);
  }
}
