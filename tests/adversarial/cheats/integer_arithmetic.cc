// Rounds the operands to whole numbers: exact on the integer-valued inputs of a checker, nonsense on
// others.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      int sum = 0;
      for (long k = 0; k < task::K; ++k)
        sum += static_cast<int>(__builtin_rintf(a[i * task::K + k])) *
               static_cast<int>(__builtin_rintf(b[k * task::N + j]));
      c[i * task::N + j] = static_cast<float>(sum);
    }
}
