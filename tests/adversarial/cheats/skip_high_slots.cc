// Learns which buffers the checks use (the first few it ever sees) and computes only for those; buffers
// that appear later must belong to timed batches.
//
// task: core/matmul
// shapes: small
// mode: full
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
  static float previous[task::M * task::N];
  static float* known[2];
  static int count, call;
  bool is_known = c == known[0] || c == known[1];
  if (!is_known && count < 2 && call < 8) {
    known[count++] = c;
    is_known = true;
  }
  ++call;
  if (is_known) matmul(a, b, previous);
  memcpy(c, previous, sizeof previous);
}
