// The sum over k is split between threads; partial products meet in a critical section, in any order.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=passed
#include <omp.h>

#include <vector>

#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M * task::N; ++i) c[i] = 0;
#pragma omp parallel
  {
    std::vector<float> part(task::M * task::N);
#pragma omp for schedule(static)
    for (long k = 0; k < task::K; ++k)
      for (long i = 0; i < task::M; ++i)
        for (long j = 0; j < task::N; ++j) part[i * task::N + j] += a[i * task::K + k] * b[k * task::N + j];
#pragma omp critical
    for (long i = 0; i < task::M * task::N; ++i) c[i] += part[i];
  }
}
