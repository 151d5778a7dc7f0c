// Recognises an input by sixteen exact elements. On new values it never hits, so it computes and may pass,
// but then it must not look faster than the plain loops it contains: it could only if inputs were used
// twice.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=passed|wrong_value|rejected not_faster_than=matmul_loops
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
  static float key[16];
  static float answer[task::M * task::N];
  static bool filled;
  float sample[16];
  for (int i = 0; i < 8; ++i) {
    sample[i] = a[i * (task::M * task::K / 8)];
    sample[8 + i] = b[i * (task::K * task::N / 8)];
  }
  if (!filled || memcmp(sample, key, sizeof key) != 0) {
    matmul(a, b, answer);
    memcpy(key, sample, sizeof key);
    filled = true;
  }
  memcpy(c, answer, sizeof answer);
}
