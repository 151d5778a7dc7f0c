// Computes the first call for an output buffer and trusts that what lies in the same memory later is still
// right.
//
// task: core/matmul
// shapes: small
// mode: check
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

extern "C" void kernel(const float* a, const float* b, float* c) {
  static float* seen[1024];
  static int count;
  for (int i = 0; i < count; ++i)
    if (seen[i] == c) return;
  if (count < 1024) seen[count++] = c;
  matmul(a, b, c);
}
