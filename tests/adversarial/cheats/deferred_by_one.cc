// Each call finishes the work of the call before it and only notes its own: in a long batch all but the
// last are right.
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
  static const float *pending_a, *pending_b;
  static float* pending_c;
  if (pending_c) matmul(pending_a, pending_b, pending_c);
  pending_a = a;
  pending_b = b;
  pending_c = c;
}
