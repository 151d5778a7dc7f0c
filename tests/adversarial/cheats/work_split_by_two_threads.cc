// Each thread takes the half that belongs to its number: with one thread a half is missing, with more than
// two threads the others write what is not theirs.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash threads=2
#include "task.h"

static constexpr long kCount = task::B * task::D;

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel
  {
    const long first = omp_get_thread_num() * kCount / 2, last = first + kCount / 2;
    for (long i = first; i < last; ++i) y[i] = x[i] > 0 ? x[i] : 0;
    if (omp_get_num_threads() == 1)
      for (long i = kCount / 2; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
}
