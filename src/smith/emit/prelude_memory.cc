// Elements on their way from memory and back: of every type, strided, past the caches, rows into columns.
#include "smith/emit/prelude_pieces.h"

namespace kforge::smith {

const std::vector<PreludePiece>& memory_pieces() {
  static const std::vector<PreludePiece> all = {
      {"strided", {"vectors"}, R"(
// p[0], p[kStep], p[2 kStep], ...
template <class F, long kStep> SMITH_INLINE F strided(const float* p) {
  if constexpr (sizeof(F) == 4) {
    return *p;
  } else if constexpr (kStep == 2) {
    const Vec low = load<Vec>(p), high = load<Vec>(p + kLanes - 1);  // ends with the last that is wanted
    return [&]<int... i>(std::integer_sequence<int, i...>) {
      return __builtin_shufflevector(low, high, (2 * i + (i < kLanes / 2 ? 0 : 1))...);
    }(std::make_integer_sequence<int, int(kLanes)>());
  } else {
    F r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = p[lane * kStep];
    return r;
  }
}
)"},
      {"backward", {"vectors"}, R"(
// p[0], p[-1], p[-2], ...
template <class F> SMITH_INLINE F backward(const float* p) {
  if constexpr (sizeof(F) == 4) {
    return *p;
  } else {
    const Vec x = load<Vec>(p - (kLanes - 1));
    IVec order;
    for (int lane = 0; lane < kLanes; ++lane) order[lane] = int(kLanes) - 1 - lane;
    return __builtin_shuffle(x, order);
  }
}
)"},
      {"load_bf16", {"widened"}, R"(
typedef unsigned short HalfVec __attribute__((vector_size(kLanes * 2), aligned(2), may_alias));
typedef unsigned short Halves __attribute__((vector_size(kLanes * 2)));
typedef unsigned UVec __attribute__((vector_size(kLanes * 4)));
template <class F> SMITH_INLINE F load_bf16(const uint16_t* p) {
  if constexpr (sizeof(F) == 4)
    return __builtin_bit_cast(float, uint32_t(*p) << 16);
  else
    return __builtin_bit_cast(Vec, widened(p) << 16);
}
)"},
      {"store_bf16", {"load_bf16"}, R"(
// Rounds to nearest even; NaN stays NaN.
SMITH_INLINE void store_bf16(uint16_t* p, float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  *p = x != x ? 0x7fc0 : uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
SMITH_INLINE void store_bf16(uint16_t* p, Vec x) {
  const UVec bits = __builtin_bit_cast(UVec, x);
  const UVec rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const UVec nan = UVec{} + 0x7fc0;
  *(HalfVec*)p = __builtin_convertvector((x != x) ? nan : rounded, Halves);
}
)"},
      {"load_f16", {"vectors"}, R"(
template <class F> SMITH_INLINE F load_f16(const _Float16* p) {
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
)"},
      {"store_f16", {"vectors"}, R"(
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
)"},
      {"copy", {"vectors"}, R"(
// Elements of any type as they are.
template <class F, class T> SMITH_INLINE void copy(T* y, const T* x) { __builtin_memcpy(y, x, sizeof(F) / 4 * sizeof(T)); }
)"},
      {"copy_past", {"copy", "stream"}, R"(
// The same past the caches: y is aligned to whole vectors.
template <class F, class T> SMITH_INLINE void copy_past(T* y, const T* x) {
#if defined(__SSE2__)
  if constexpr (sizeof(F) > 4) {
    for (unsigned i = 0; i < sizeof(F) / 4 * sizeof(T); i += 16)
      _mm_stream_si128((__m128i*)((char*)y + i), _mm_loadu_si128((const __m128i*)((const char*)x + i)));
    return;
  }
#endif
  copy<F>(y, x);
}
)"},
      {"widened", {"vectors"}, R"(
// kLanes integers of one or two bytes. The intrinsics say in one instruction what the compiler takes apart.
#if defined(__AVX512F__)
SMITH_INLINE IVec widened(const int8_t* p) { return (IVec)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p)); }
SMITH_INLINE IVec widened(const uint8_t* p) { return (IVec)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)); }
SMITH_INLINE IVec widened(const int16_t* p) { return (IVec)_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i*)p)); }
SMITH_INLINE IVec widened(const uint16_t* p) { return (IVec)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)); }
#elif defined(__AVX2__)
SMITH_INLINE IVec widened(const int8_t* p) { return (IVec)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)); }
SMITH_INLINE IVec widened(const uint8_t* p) { return (IVec)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)); }
SMITH_INLINE IVec widened(const int16_t* p) { return (IVec)_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i*)p)); }
SMITH_INLINE IVec widened(const uint16_t* p) { return (IVec)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)); }
#else
template <class T> SMITH_INLINE IVec widened(const T* p) {
  IVec r;
  for (long lane = 0; lane < kLanes; ++lane) r[lane] = p[lane];
  return r;
}
#endif
)"},
      {"load_int", {"widened"}, R"(
// Integers of any width as floats.
template <class F, class T> SMITH_INLINE F load_int(const T* p) {
  if constexpr (sizeof(F) == 4) {
    return float(*p);
  } else if constexpr (sizeof(T) < 4) {
    return __builtin_convertvector(widened(p), Vec);
  } else {
    typedef T Narrow __attribute__((vector_size(kLanes * sizeof(T)), aligned(alignof(T)), may_alias));
    typedef T Ints __attribute__((vector_size(kLanes * sizeof(T))));
    return __builtin_convertvector((Ints)*(const Narrow*)p, Vec);
  }
}
)"},
      {"load_mask", {"widened"}, R"(
template <class F> SMITH_INLINE auto load_mask(const uint8_t* p) {
  if constexpr (sizeof(F) == 4) return *p != 0; else return widened(p) != 0;
}
)"},
      {"store_mask", {"vectors"}, R"(
SMITH_INLINE void store_mask(uint8_t* p, bool x) { *p = x; }
SMITH_INLINE void store_mask(uint8_t* p, IVec x) { for (long lane = 0; lane < kLanes; ++lane) p[lane] = x[lane] != 0; }
)"},
      {"stream", {"vectors"}, R"(
// Past the caches: p is aligned to whole vectors.
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
)"},
      {"turn", {"vectors", "stream"}, R"(
// Rows become columns: neighbours at distance 1, 2, 4, ... exchange halves.
template <int D = 1> SMITH_INLINE void turned(Vec (&v)[kLanes]) {
  if constexpr (D < kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      if (k & D) continue;
      const Vec a = v[k], b = v[k + D];
      [&]<int... i>(std::integer_sequence<int, i...>) {
        v[k] = __builtin_shufflevector(a, b, (i & D ? int(kLanes) + i - D : i)...);
        v[k + D] = __builtin_shufflevector(a, b, (i & D ? int(kLanes) + i : i + D)...);
      }(std::make_integer_sequence<int, int(kLanes)>());
    }
    turned<2 * D>(v);
  }
}
// y[i * ys + j] = x[j * xs + i] for i < n and j < m. Two squares side by side fill whole lines of y, also where
// they go past the caches.
template <bool kPast> SMITH_INLINE void turn(float* y, long ys, const float* x, long xs, long n, long m) {
  const long whole_n = n / kLanes * kLanes, whole_m = m / (2 * kLanes) * (2 * kLanes);
  for (long j = 0; j < whole_m; j += 2 * kLanes)
    for (long i = 0; i < whole_n; i += kLanes) {
      Vec low[kLanes], high[kLanes];
      for (int k = 0; k < kLanes; ++k) low[k] = load<Vec>(x + (j + k) * xs + i);
      turned(low);
      for (int k = 0; k < kLanes; ++k) high[k] = load<Vec>(x + (j + kLanes + k) * xs + i);
      turned(high);
      for (int k = 0; k < kLanes; ++k) {
        float* const p = y + (i + k) * ys + j;
        if constexpr (kPast) stream(p, low[k]), stream(p + kLanes, high[k]);
        else store(p, low[k]), store(p + kLanes, high[k]);
      }
    }
  for (long i = 0; i < n; ++i)
    for (long j = i < whole_n ? whole_m : 0; j < m; ++j) y[i * ys + j] = x[j * xs + i];
}
)"},
  };
  return all;
}

}  // namespace kforge::smith
