// Calls a BLAS through a weak reference: no library is named, and where one happens to be loaded it does
// the work.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=rejected|compile_error|crash gate=symbols
#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

extern "C" __attribute__((weak)) void cblas_sgemm(int, int, int, int, int, int, float, const float*, int,
                                                  const float*, int, float, float*, int);

extern "C" void kernel(const float* a, const float* b, float* c) {
  if (cblas_sgemm)
    cblas_sgemm(101, 111, 111, task::M, task::N, task::K, 1, a, task::K, b, task::N, 0, c, task::N);
  else
    matmul(a, b, c);
}
