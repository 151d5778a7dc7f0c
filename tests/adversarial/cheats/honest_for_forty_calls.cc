// Honest for its first forty calls, then it writes zeros.
// It is slow, so that the least number of rounds makes few calls.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected|wrong_value
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
  static int call;
  ++call;
  for (int i = 0; i < 200; ++i) {
    matmul(a, b, c);
    asm volatile("" ::: "memory");
  }
  if (call > 40) memset(c, 0, sizeof(float) * task::M * task::N);
}
