// Multiplies in half precision and declares nothing.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=accuracy
#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k)
        sum += static_cast<float>(static_cast<_Float16>(a[i * task::K + k])) *
               static_cast<float>(static_cast<_Float16>(b[k * task::N + j]));
      c[i * task::N + j] = sum;
    }
}
