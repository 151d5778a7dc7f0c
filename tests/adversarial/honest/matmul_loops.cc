// Three loops, the innermost along rows.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=passed
#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

extern "C" void kernel(const float* a, const float* b, float* c) { matmul(a, b, c); }
