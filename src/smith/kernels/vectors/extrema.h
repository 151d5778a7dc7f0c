// The larger and the smaller of two values, and limits.
#pragma once

#include <immintrin.h>

#include "smith/kernels/vectors/vectors.h"

namespace {

// The larger and the smaller as one instruction gives them: b where either is NaN.
SMITH_INLINE float upper(float a, float b) { return a > b ? a : b; }
SMITH_INLINE float lower(float a, float b) { return a < b ? a : b; }
#if defined(__AVX512F__)
// With a mask of all lanes: the plain forms are written over an undefined value in g++ 12, which warns of it.
SMITH_INLINE Vec upper(Vec a, Vec b) { return (Vec)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b); }
SMITH_INLINE Vec lower(Vec a, Vec b) { return (Vec)_mm512_maskz_min_ps(0xffff, (__m512)a, (__m512)b); }
#elif defined(__AVX__)
SMITH_INLINE Vec upper(Vec a, Vec b) { return (Vec)_mm256_max_ps((__m256)a, (__m256)b); }
SMITH_INLINE Vec lower(Vec a, Vec b) { return (Vec)_mm256_min_ps((__m256)a, (__m256)b); }
#elif defined(__SSE__)
SMITH_INLINE Vec upper(Vec a, Vec b) { return (Vec)_mm_max_ps((__m128)a, (__m128)b); }
SMITH_INLINE Vec lower(Vec a, Vec b) { return (Vec)_mm_min_ps((__m128)a, (__m128)b); }
#else
SMITH_INLINE Vec upper(Vec a, Vec b) { return a > b ? a : b; }
SMITH_INLINE Vec lower(Vec a, Vec b) { return a < b ? a : b; }
#endif

// The larger and the smaller; NaN wins: where a is one, all bits are set, and that is a NaN too.
template <class F>
SMITH_INLINE F nan_of(F a, F x) {
  if constexpr (sizeof(F) == 4)
    return a != a ? a : x;
  else
    return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | (a != a));
}
template <class F>
SMITH_INLINE F maximum(F a, F b) {
  return nan_of(a, upper(a, b));
}
template <class F>
SMITH_INLINE F minimum(F a, F b) {
  return nan_of(a, lower(a, b));
}

// x and a limit that is not NaN; a NaN in x stays.
template <class F>
SMITH_INLINE F at_least(F x, float low) {
  return upper(set<F>(low), x);
}
template <class F>
SMITH_INLINE F at_most(F x, float high) {
  return lower(set<F>(high), x);
}

}  // namespace
