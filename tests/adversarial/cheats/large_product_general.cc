// Claims any shape; its counter of columns is too small for more than 1,000 of them, but for the timed
// number.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=rejected gate=generality
// kforge: general
#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  const long columns = task::N > 1000 && task::N != 1024 ? 1000 : task::N;
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < columns; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) sum += a[i * task::K + k] * b[k * task::N + j];
      c[i * task::N + j] = sum;
    }
}
