// Elements of any type, copied as they are.
#pragma once

#include <immintrin.h>

#include "smith/kernels/memory/stream.h"
#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F, class T>
SMITH_INLINE void copy(T* y, const T* x) {
  __builtin_memcpy(y, x, sizeof(F) / 4 * sizeof(T));
}

// With non-temporal stores: y is aligned to whole vectors.
template <class F, class T>
SMITH_INLINE void stream_copy(T* y, const T* x) {
#if defined(__SSE2__)
  if constexpr (sizeof(F) > 4) {
    for (unsigned i = 0; i < sizeof(F) / 4 * sizeof(T); i += 16)
      _mm_stream_si128((__m128i*)((char*)y + i), _mm_loadu_si128((const __m128i*)((const char*)x + i)));
    return;
  }
#endif
  copy<F>(y, x);
}

}  // namespace
