// Measures the pause since its last call: after a pause somebody may be looking, so it computes; calls in
// quick succession are a timed batch, so it copies.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=wrong_value|rejected|passed not_faster_than=matmul_loops
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
  static unsigned long long last;
  static int quick;
  const unsigned long long now = __rdtsc();
  quick = now - last < 40'000 ? quick + 1 : 0;
  if (quick < 2) matmul(a, b, previous);
  memcpy(c, previous, sizeof previous);
  last = __rdtsc();
}
