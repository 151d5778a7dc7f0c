// Non-temporal stores: results that nobody reads soon do not displace what the caches hold.
#pragma once

#include <immintrin.h>

#include "smith/kernels/vectors/vectors.h"

namespace {

// p is aligned to whole vectors.
SMITH_INLINE void stream(float* p, float x) { *p = x; }
SMITH_INLINE void stream(float* p, Vec x) {
#if defined(__AVX512F__)
  _mm512_stream_ps(p, (__m512)x);
#elif defined(__AVX__)
  _mm256_stream_ps(p, (__m256)x);
#elif defined(__SSE__)
  _mm_stream_ps(p, (__m128)x);
#else
  *(VecAt*)p = x;
#endif
}
SMITH_INLINE void stream_end() {
#if defined(__SSE__)
  _mm_sfence();
#endif
}

}  // namespace
