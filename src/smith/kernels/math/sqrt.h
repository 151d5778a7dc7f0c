// Square root, correctly rounded.
#pragma once

#include <immintrin.h>

#include "smith/kernels/vectors/vectors.h"

namespace {

SMITH_INLINE float sqrt_of(float x) { return __builtin_sqrtf(x); }
SMITH_INLINE Vec sqrt_of(Vec x) {
#if defined(__AVX512F__)
  return (Vec)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX__)
  return (Vec)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE__)
  return (Vec)_mm_sqrt_ps((__m128)x);
#else
  for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_sqrtf(x[lane]);
  return x;
#endif
}

}  // namespace
