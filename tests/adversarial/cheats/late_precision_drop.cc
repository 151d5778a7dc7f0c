// Full precision while values are checked, half precision once the timed calls must have begun.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=wrong_value|rejected
#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

static void matmul_half(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k)
        sum += static_cast<_Float16>(a[i * task::K + k]) * static_cast<_Float16>(b[k * task::N + j]);
      c[i * task::N + j] = sum;
    }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  static int call;
  if (++call <= 60)
    matmul(a, b, c);
  else
    matmul_half(a, b, c);
}
