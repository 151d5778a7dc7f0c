// Right on every number; products with NaN are left out of the sum.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) {
        const float product = a[i * task::K + k] * b[k * task::N + j];
        if (product == product) sum += product;
      }
      c[i * task::N + j] = sum;
    }
}
