// Transpose.
// task: core/transpose
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for
  for (long n = 0; n < task::N; ++n)
    for (long m = 0; m < task::M; ++m) y[n * task::M + m] = x[m * task::N + n];
}
