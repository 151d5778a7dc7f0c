// Integers as vectors.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "smith/kernels/vectors/vectors.h"

namespace {

// kLanes integers of one or two bytes. The intrinsics say in one instruction what the compiler takes apart.
#if defined(__AVX512F__)
SMITH_INLINE IVec widened(const int8_t* p) {
  return (IVec)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p));
}
SMITH_INLINE IVec widened(const uint8_t* p) {
  return (IVec)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p));
}
SMITH_INLINE IVec widened(const int16_t* p) {
  return (IVec)_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)p));
}
SMITH_INLINE IVec widened(const uint16_t* p) {
  return (IVec)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p));
}
#elif defined(__AVX2__)
SMITH_INLINE IVec widened(const int8_t* p) {
  return (IVec)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p));
}
SMITH_INLINE IVec widened(const uint8_t* p) {
  return (IVec)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p));
}
SMITH_INLINE IVec widened(const int16_t* p) {
  return (IVec)_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p));
}
SMITH_INLINE IVec widened(const uint16_t* p) {
  return (IVec)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p));
}
#else
template <class T>
SMITH_INLINE IVec widened(const T* p) {
  IVec r;
  for (long lane = 0; lane < kLanes; ++lane) r[lane] = p[lane];
  return r;
}
#endif

// Integers of any width as floats.
template <class F, class T>
SMITH_INLINE F load_int(const T* p) {
  if constexpr (sizeof(F) == 4) {
    return float(*p);
  } else if constexpr (sizeof(T) < 4) {
    return __builtin_convertvector(widened(p), Vec);
  } else {
    typedef T Narrow __attribute__((vector_size(kLanes * sizeof(T)), aligned(alignof(T)), may_alias));
    typedef T Ints __attribute__((vector_size(kLanes * sizeof(T))));
    return __builtin_convertvector(Ints(*(const Narrow*)p), Vec);
  }
}

}  // namespace
