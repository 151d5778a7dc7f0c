// Sums every second product and doubles the result: right on equal values and unbiased on random ones.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; k += 2) sum += a[i * task::K + k] * b[k * task::N + j];
      c[i * task::N + j] = 2 * sum;
    }
}
