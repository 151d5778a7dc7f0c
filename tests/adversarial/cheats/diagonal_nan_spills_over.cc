// Right on every number; a NaN spoils the row after its own as well (after the last the first: wherever it
// lies).
//
// task: core/matmul_diagonal
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include "task.h"

extern "C" void kernel(const float* diagonal, const float* b, float* y) {
  for (long i = 0; i < task::M; ++i) {
    const float before = diagonal[i == 0 ? task::M - 1 : i - 1];
    const float factor = before == before ? diagonal[i] : before;
    for (long j = 0; j < task::N; ++j) y[i * task::N + j] = factor * b[i * task::N + j];
  }
}
