#include "smith/emit/prelude.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge::smith {
namespace {

struct Piece {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;
};

const std::vector<Piece>& pieces() {
  static const std::vector<Piece> all = {
      {"vectors", {}, R"(
// One vector of floats, as wide as the machine has them. Everything below works on a vector (F = Vec) and on a
// single element (F = float), so that loops and what is left over at their ends share one body.
#if defined(__AVX512F__)
constexpr long kLanes = 16;
#elif defined(__AVX__)
constexpr long kLanes = 8;
#else
constexpr long kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int IVec __attribute__((vector_size(kLanes * 4)));
typedef float VecAt __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

template <class F> struct Of { using I = int; using Mask = bool; };
template <> struct Of<Vec> { using I = IVec; using Mask = IVec; };
template <class F> using Int = typename Of<F>::I;

#define SMITH_INLINE inline __attribute__((always_inline))

// x - 0 is x, and costs nothing; 0 + x would be an addition: it turns -0 into 0.
template <class F> SMITH_INLINE F set(float x) { if constexpr (sizeof(F) == 4) return x; else return x - Vec{}; }
template <class F> SMITH_INLINE F load(const float* p) { if constexpr (sizeof(F) == 4) return *p; else return *(const VecAt*)p; }
SMITH_INLINE void store(float* p, float x) { *p = x; }
SMITH_INLINE void store(float* p, Vec x) { *(VecAt*)p = x; }
SMITH_INLINE float pick(bool c, float a, float b) { return c ? a : b; }
SMITH_INLINE Vec pick(IVec c, Vec a, Vec b) { return c ? a : b; }
SMITH_INLINE Vec pick(bool c, Vec a, Vec b) { return c ? a : b; }
)"},
      {"along", {"vectors"}, R"(
// body(lane, i) for i = 0, kLanes, ...: U vectors at a time, then one, then single elements; or, where an element
// may be done twice, a last vector that begins earlier. lane.u tells the vectors of one turn apart.
template <class T, int U> struct Lane { using F = T; static constexpr int u = U; };
template <int U, bool kAgain = false, class Body> SMITH_INLINE void along(long n, Body body) {
  long i = 0;
  for (; i + U * kLanes <= n; i += U * kLanes)
    [&]<int... u>(std::integer_sequence<int, u...>) { (body(Lane<Vec, u>(), i + u * kLanes), ...); }(std::make_integer_sequence<int, U>());
  if constexpr (U > 1)
    for (; i + kLanes <= n; i += kLanes) body(Lane<Vec, 0>(), i);
  if (kAgain && i < n && n >= kLanes) return body(Lane<Vec, 0>(), n - kLanes);
  for (; i < n; ++i) body(Lane<float, 0>(), i);
}
)"},
      {"accumulators", {"vectors", "maximum"}, R"(
// Partial results of a reduction: U vectors and one element, combined at the end in a fixed order.
struct Plus { template <class F> static SMITH_INLINE F of(F a, F b) { return a + b; } };
struct Times { template <class F> static SMITH_INLINE F of(F a, F b) { return a * b; } };
struct Larger { template <class F> static SMITH_INLINE F of(F a, F b) { return maximum(a, b); } };
struct Smaller { template <class F> static SMITH_INLINE F of(F a, F b) { return minimum(a, b); } };
template <class How, int U> struct Partial {
  Vec v[U];
  float s;
  SMITH_INLINE explicit Partial(float neutral) : s(neutral) { for (Vec& x : v) x = set<Vec>(neutral); }
  template <class L> SMITH_INLINE void take(L, Vec x) { v[L::u] = How::of(v[L::u], x); }
  template <class L> SMITH_INLINE void take(L, float x) { s = How::of(s, x); }
  SMITH_INLINE float result() const {
    Vec all = v[0];
    for (int u = 1; u < U; ++u) all = How::of(all, v[u]);
    float lanes[kLanes];
    store(lanes, all);
    for (long n = kLanes / 2; n > 0; n /= 2)
      for (long i = 0; i < n; ++i) lanes[i] = How::of(lanes[i], lanes[i + n]);
    return How::of(lanes[0], s);
  }
};
)"},
      {"upper", {"vectors"}, R"(
// The larger and the smaller as one instruction gives them: b where either is NaN.
SMITH_INLINE float upper(float a, float b) { return a > b ? a : b; }
SMITH_INLINE float lower(float a, float b) { return a < b ? a : b; }
#if defined(__AVX512F__)
SMITH_INLINE Vec upper(Vec a, Vec b) { return (Vec)_mm512_max_ps((__m512)a, (__m512)b); }
SMITH_INLINE Vec lower(Vec a, Vec b) { return (Vec)_mm512_min_ps((__m512)a, (__m512)b); }
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
)"},
      {"maximum", {"upper"}, R"(
// The larger and the smaller; NaN wins: where a is one, all bits are set, and that is a NaN too.
template <class F> SMITH_INLINE F nan_of(F a, F x) {
  if constexpr (sizeof(F) == 4) return a != a ? a : x; else return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | (a != a));
}
template <class F> SMITH_INLINE F maximum(F a, F b) { return nan_of(a, upper(a, b)); }
template <class F> SMITH_INLINE F minimum(F a, F b) { return nan_of(a, lower(a, b)); }
)"},
      {"at_least", {"upper"}, R"(
// x and a limit that is not NaN; a NaN in x stays.
template <class F> SMITH_INLINE F at_least(F x, float low) { return upper(set<F>(low), x); }
template <class F> SMITH_INLINE F at_most(F x, float high) { return lower(set<F>(high), x); }
)"},
      {"each", {"vectors"}, R"(
// Lanes one by one, for what has no vector form: fn(lane number).
template <class F, class Fn> SMITH_INLINE F each(Fn fn) {
  if constexpr (sizeof(F) == 4) {
    return fn(0);
  } else {
    F r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = fn(lane);
    return r;
  }
}
)"},
      {"each_mask", {"vectors"}, R"(
template <class F, class Fn> SMITH_INLINE auto each_mask(Fn fn) {
  if constexpr (sizeof(F) == 4) {
    return bool(fn(0));
  } else {
    IVec r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = fn(lane) ? -1 : 0;
    return r;
  }
}
)"},
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
      {"positions", {"vectors"}, R"(
// first, first + step, first + 2 step, ... in the lanes.
template <class F> SMITH_INLINE Int<F> positions(long first, int step) {
  if constexpr (sizeof(F) == 4) {
    return int(first);
  } else {
    IVec r;
    for (int lane = 0; lane < kLanes; ++lane) r[lane] = int(first) + lane * step;
    return r;
  }
}
SMITH_INLINE float to_float(int x) { return float(x); }
SMITH_INLINE Vec to_float(IVec x) { return __builtin_convertvector(x, Vec); }
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
      {"prefix", {"vectors"}, R"(
// lanes become x0, x0 + x1, x0 + x1 + x2, ...: every second piece of 1, 2, 4, ... lanes takes what the one
// before it ends with.
template <class How, int W = 1> SMITH_INLINE Vec prefix(Vec x, float neutral) {
  if constexpr (W >= kLanes) {
    return x;
  } else {
    const Vec fill = set<Vec>(neutral);
    const Vec before = [&]<int... i>(std::integer_sequence<int, i...>) {
      return __builtin_shufflevector(x, fill, (i / W % 2 ? i / W * W - 1 : int(kLanes) + i)...);
    }(std::make_integer_sequence<int, int(kLanes)>());
    return prefix<How, 2 * W>(How::of(x, before), neutral);
  }
}
// Lanes one up, the first lane of `low` below them.
SMITH_INLINE Vec one_up(Vec x, Vec low) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, low, (i == 0 ? int(kLanes) : i - 1)...);
  }(std::make_integer_sequence<int, int(kLanes)>());
}
SMITH_INLINE Vec mirrored(Vec x) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, x, (int(kLanes) - 1 - i)...);
  }(std::make_integer_sequence<int, int(kLanes)>());
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
      {"sqrt", {"vectors"}, R"(
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
)"},
      {"magnitude", {"vectors"}, R"(
template <class F> SMITH_INLINE F magnitude(F x) { return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) & 0x7fffffff); }
template <class F> SMITH_INLINE F below_zero(F x) { return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | int(0x80000000)); }  // -|x|
template <class F> SMITH_INLINE F with_sign_of(F x, F sign) {
  return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | (__builtin_bit_cast(Int<F>, sign) & int(0x80000000)));
}
)"},
      {"exp_parts", {"vectors", "at_least"}, R"(
// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35. The low bits of `biased` are
// n + kBias, ready to become the exponent of a float.
template <class F> struct ExpParts { Int<F> biased; F m; };
template <int kBias, class F, class... Tail> SMITH_INLINE ExpParts<F> exp_parts(F x, Tail... tail) {
  const float magic = 12582912.0f + kBias;  // 1.5 * 2^23: adding it rounds to whole numbers
  const F shifted = x * 1.44269504f + magic;
  const F whole = shifted - magic;
  const F r = (((x - whole * 0.693359375f) + whole * 2.12194440e-4f) + ... + tail);
  F p = r * 1.3950725990e-3f + 8.3690249714e-3f;
  p = p * r + 4.1666202284e-2f;
  p = p * r + 1.6666517711e-1f;
  p = p * r + 5.0000000963e-1f;
  return {__builtin_bit_cast(Int<F>, shifted), p * (r * r) + r};
}
template <class F> SMITH_INLINE F power_of_two(Int<F> biased) { return __builtin_bit_cast(F, biased << 23); }
)"},
      {"scaled", {"exp_parts"}, R"(
// 2^n (y m + y) for parts of bias 254: in two steps, so that results from the smallest denormal to the largest
// number are right.
template <class F> SMITH_INLINE F scaled(ExpParts<F> e, F y) {
  const Int<F> half = e.biased >> 1;
  const F first = power_of_two<F>(half) * y;
  return (first * e.m + first) * power_of_two<F>(e.biased - half);
}
)"},
      {"exp_low", {"exp_parts"}, R"(
// exp(x) for x <= 60. The last step alone may give a denormal.
template <class F> SMITH_INLINE F exp_low(F x) {
  const ExpParts<F> e = exp_parts<127 + 24>(at_least(x, -104.5f));  // 0 beyond
  const F scale = power_of_two<F>(e.biased);
  return (scale * e.m + scale) * 5.9604644775390625e-8f;  // 2^-24
}
)"},
      {"exp", {"scaled"}, R"(
template <class F> SMITH_INLINE F exp_of(F x) {
  const F cut = at_most(at_least(x, -104.5f), 89.0f);  // 0 and infinity beyond
  return scaled(exp_parts<254>(cut), set<F>(1.0f));
}
)"},
      {"expm1", {"exp_parts", "magnitude"}, R"(
template <class F> SMITH_INLINE F expm1_of(F x) {
  const ExpParts<F> e = exp_parts<126>(at_most(at_least(x, -30.0f), 89.0f));
  const F half = power_of_two<F>(e.biased);  // of 2^n: 2^127 at most
  const F y = (half * e.m + (half - 0.5f)) * 2.0f;
  return pick(magnitude(x) < 1e-30f, x, y);
}
)"},
      {"log", {"vectors"}, R"(
template <class F> SMITH_INLINE F log_of(F x) {
  const auto tiny = x < 1.17549435e-38f;  // denormals are brought into range
  const F y = pick(tiny, x * 8388608.0f, x);
  const Int<F> bits = __builtin_bit_cast(Int<F>, y);
  const Int<F> shifted = bits - 0x3f3504f3;  // mantissa between sqrt(1/2) and sqrt(2)
  F e;
  if constexpr (sizeof(F) == 4) e = float(shifted >> 23); else e = __builtin_convertvector(shifted >> 23, F);
  e = pick(tiny, e - 23.0f, e);
  const F f = __builtin_bit_cast(F, (shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const F z = f * f;
  F p = f * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  F r = f * z * p - 2.12194440e-4f * e;
  r = r - 0.5f * z;
  r = (f + r) + 0.693359375f * e;
  const float infinity = __builtin_inff();
  r = pick(x == 0.0f, set<F>(-infinity), r);
  r = pick(x < 0.0f, set<F>(__builtin_nanf("")), r);
  return pick(!(x < infinity), x, r);  // infinity and NaN
}
)"},
      {"log1p", {"log"}, R"(
template <class F> SMITH_INLINE F log1p_of(F x) {
  const F u = x + 1.0f;
  const F d = u - 1.0f;  // what of x arrived in u
  const F r = log_of(u) * (x / pick(d == 0.0f, set<F>(1.0f), d));
  return pick(d == 0.0f, x, pick(u < __builtin_inff(), r, log_of(u)));
}
)"},
      {"tanh", {"exp_parts", "magnitude"}, R"(
// m / (m + 2) with m = exp(2 |x|) - 1.
template <class F> SMITH_INLINE F tanh_of(F x) {
  const ExpParts<F> e = exp_parts<127>(at_most(magnitude(x), 10.0f) * 2.0f);
  const F scale = power_of_two<F>(e.biased), m = scale * e.m + (scale - 1.0f);
  return with_sign_of(m / (m + 2.0f), x);
}
)"},
      {"sigmoid", {"exp_low", "magnitude"}, R"(
template <class F> SMITH_INLINE F sigmoid_of(F x) {
  const F e = exp_low(below_zero(x));
  return pick(x >= 0.0f, set<F>(1.0f), e) / (e + 1.0f);
}
)"},
      {"softplus", {"exp_low", "magnitude", "upper"}, R"(
// max(x, 0) + log(1 + e), e = exp(-|x|): between 0 and 1 the logarithm is e times a quotient.
template <class F> SMITH_INLINE F softplus_of(F x) {
  const F e = exp_low(below_zero(x));
  F p = e * 3.417285553e-3f + 2.381576446e-1f;
  p = p * e + 1.066218669f;
  p = p * e + 1.0f;
  F q = e * 7.528733077e-2f + 6.879365072e-1f;
  q = q * e + 1.566218538f;
  q = q * e + 1.0f;
  return upper(x, set<F>(0.0f)) + e * (p / q);
}
)"},
      {"erf_small", {"vectors"}, R"(
// erf for |x| < 0.94.
template <class F> SMITH_INLINE F erf_small(F x) {
  const F z = x * x;
  F p = z * 8.21278053e-5f - 8.10505451e-4f;
  p = p * z + 5.19768491e-3f;
  p = p * z - 2.68580425e-2f;
  p = p * z + 1.12836710e-1f;
  p = p * z - 3.76126322e-1f;
  p = p * z + 1.12837917f;
  return p * x;
}
)"},
      {"erfc", {"scaled", "magnitude", "erf_small"}, R"(
// exp(-a^2) times a polynomial in (a - 2) / (a + 2), for a = |x|; a^2 is taken exactly, in two parts.
template <class F> SMITH_INLINE F erfc_of(F x) {
  const F a = at_most(magnitude(x), 10.1f);
  const F q = (a - 2.0f) / (a + 2.0f);
  F p = q * 8.29498530e-5f + 1.75997835e-4f;
  p = p * q - 4.01850422e-4f;
  p = p * q - 1.42829469e-3f;
  p = p * q + 1.25122796e-3f;
  p = p * q + 8.71211838e-3f;
  p = p * q - 8.03004981e-3f;
  p = p * q - 5.42183374e-2f;
  p = p * q + 1.64050916e-1f;
  p = p * q - 1.66030490e-1f;
  p = p * q - 9.27638161e-2f;
  p = p * q + 1.27697838f;
  const F high = __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, a) & int(0xfffff000));
  const ExpParts<F> e = exp_parts<254>(-high * high, (high - a) * (high + a));
  const F y = scaled(e, p / (a * 2.0f + 1.0f));
  const F far = pick(x < 0.0f, 2.0f - y, y);
  return pick(x != x, x, pick(a < 0.5f, 1.0f - erf_small(x), far));
}
)"},
      {"normal_cdf", {"exp_low", "magnitude"}, R"(
// Of the normal distribution: below zero exp(-x^2 / 2) times a quotient without cancellation, so that tails
// keep their digits; above, one less that.
template <class F> SMITH_INLINE F normal_cdf(F x) {
  const F a = at_most(magnitude(x), 14.6f);
  F p = a * 4.123819715e-3f + 4.068371881e-2f;
  p = p * a + 1.833847497e-1f;
  p = p * a + 4.384966280e-1f;
  p = p * a + 0.5f;
  F q = a * 1.033676504e-2f + 1.019853385e-1f;
  q = q * a + 4.698656431e-1f;
  q = q * a + 1.203124146f;
  q = q * a + 1.674878242f;
  q = q * a + 1.0f;
  const F tail = exp_low(a * a * -0.5f) * (p / q);
  return pick(x < 0.0f, tail, 1.0f - tail);
}
)"},
      {"erf", {"erfc"}, R"(
template <class F> SMITH_INLINE F erf_of(F x) {
  return pick(x * x < 0.88f, erf_small(x), with_sign_of(1.0f - erfc_of(magnitude(x)), x));
}
)"},
      {"rounding", {"vectors"}, R"(
template <class F> SMITH_INLINE F floor_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_floorf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_floorf(x[lane]); return x; }
}
template <class F> SMITH_INLINE F ceil_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_ceilf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_ceilf(x[lane]); return x; }
}
template <class F> SMITH_INLINE F round_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_nearbyintf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_nearbyintf(x[lane]); return x; }
}
)"},
      {"to_bf16", {}, R"(
SMITH_INLINE float to_bf16(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return x != x ? x : __builtin_bit_cast(float, (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u);
}
)"},
      {"whole", {}, R"(
// A floating value as an integer: towards zero; NaN gives 0, what is too large the nearest.
inline int64_t whole(double x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  return x < -9223372036854775808.0 ? INT64_MIN : int64_t(x);
}
inline int64_t floor_mod(int64_t a, int64_t b) { const int64_t r = b == -1 ? 0 : a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
inline double floor_mod(double a, double b) { const double r = std::fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
inline int64_t int_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (uint64_t square = uint64_t(base); exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return int64_t(result);
}
)"},
  };
  return all;
}

}  // namespace

std::string prelude(const std::set<std::string>& used) {
  std::string text;
  std::set<std::string_view> done;
  auto add = [&](auto&& self, std::string_view name) -> void {
    if (!done.insert(name).second) return;
    const auto& all = pieces();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Piece& p) { return p.name == name; });
    KF_CHECK(found != all.end(), "no piece '{}'", name);
    for (std::string_view needed : found->needs) self(self, needed);
    text += found->text;
  };
  add(add, "vectors");
  for (const std::string& name : used) add(add, name);
  return text;
}

}  // namespace kforge::smith
