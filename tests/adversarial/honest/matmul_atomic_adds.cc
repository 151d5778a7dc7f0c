// Threads add their products to the result with atomic operations: another order in every call.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=passed
#include <atomic>

#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M * task::N; ++i) c[i] = 0;
#pragma omp parallel for schedule(dynamic)
  for (long k = 0; k < task::K; ++k)
    for (long i = 0; i < task::M; ++i)
      for (long j = 0; j < task::N; ++j)
        std::atomic_ref<float>(c[i * task::N + j]).fetch_add(a[i * task::K + k] * b[k * task::N + j]);
}
