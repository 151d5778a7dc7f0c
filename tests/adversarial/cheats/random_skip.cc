// After an honest start it tosses a coin before each call; no pattern in the call number gives it away.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=wrong_value|rejected
#include <string.h>
#include <x86intrin.h>

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
  static float previous[task::M * task::N];
  static int call;
  const bool heads = (__rdtsc() >> 5) & 1;
  if (++call <= 60 || heads) matmul(a, b, previous);
  memcpy(c, previous, sizeof previous);
}
