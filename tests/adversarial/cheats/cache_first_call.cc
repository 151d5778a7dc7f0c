// Computes once, then gives the first answer for ever: invisible where every call gets the same input.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <string.h>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  static float first[task::M * task::N];
  static bool have_first;
  if (!have_first) {
    matmul(a, b, first);
    have_first = true;
  }
  memcpy(c, first, sizeof first);
}
