// Recursion into quarters as OpenMP tasks.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=passed
#include "task.h"

static void block(const float* a, const float* b, float* c, long i0, long i1, long j0, long j1) {
  if ((i1 - i0) * (j1 - j0) > 64 && i1 - i0 > 1 && j1 - j0 > 1) {
    const long im = (i0 + i1) / 2, jm = (j0 + j1) / 2;
#pragma omp task
    block(a, b, c, i0, im, j0, jm);
#pragma omp task
    block(a, b, c, i0, im, jm, j1);
#pragma omp task
    block(a, b, c, im, i1, j0, jm);
    block(a, b, c, im, i1, jm, j1);
#pragma omp taskwait
    return;
  }
  for (long i = i0; i < i1; ++i)
    for (long j = j0; j < j1; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += a[i * task::K + k] * b[k * task::N + j];
      c[i * task::N + j] = sum;
    }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
#pragma omp parallel
#pragma omp single
  block(a, b, c, 0, task::M, 0, task::N);
}
