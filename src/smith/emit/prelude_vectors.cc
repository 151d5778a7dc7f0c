// Vectors of the machine's width: loops along them, choices, partial sums and running ones.
#include "smith/emit/prelude_pieces.h"

namespace kforge::smith {

const std::vector<PreludePiece>& vectors_pieces() {
  static const std::vector<PreludePiece> all = {
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

}  // namespace kforge::smith
