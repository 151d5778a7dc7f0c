// float16 in memory.
#pragma once

#include <immintrin.h>

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F>
SMITH_INLINE F load_f16(const _Float16* p) {
  if constexpr (sizeof(F) == 4) {
    return float(*p);
  } else {
#if defined(__AVX512F__)
    return (Vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
#elif defined(__F16C__)
    return (Vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#else
    F r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = float(p[lane]);
    return r;
#endif
  }
}

SMITH_INLINE void store_f16(_Float16* p, float x) { *p = _Float16(x); }
SMITH_INLINE void store_f16(_Float16* p, Vec x) {
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#else
  for (long lane = 0; lane < kLanes; ++lane) p[lane] = _Float16(x[lane]);
#endif
}

}  // namespace
