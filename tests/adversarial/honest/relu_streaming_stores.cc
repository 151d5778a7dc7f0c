// Results go past the caches; a loop of single elements at the end.
//
// task: core/relu
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

extern "C" void kernel(const float* x, float* y) {
  long count = task::B * task::D, i = 0;
#ifdef __AVX__
  for (; i + 8 <= count; i += 8)
    _mm256_stream_ps(y + i, _mm256_max_ps(_mm256_loadu_ps(x + i), _mm256_setzero_ps()));
  _mm_sfence();
#endif
  for (; i < count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
