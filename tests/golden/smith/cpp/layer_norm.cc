// layer_norm
//
// y_total to y share their outer loops: what passes between them stays in cache
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "task.h"

namespace {

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

template <class F> SMITH_INLINE F set(float x) { if constexpr (sizeof(F) == 4) return x; else return Vec{} + x; }
template <class F> SMITH_INLINE F load(const float* p) { if constexpr (sizeof(F) == 4) return *p; else return *(const VecAt*)p; }
SMITH_INLINE void store(float* p, float x) { *p = x; }
SMITH_INLINE void store(float* p, Vec x) { *(VecAt*)p = x; }
SMITH_INLINE float pick(bool c, float a, float b) { return c ? a : b; }
SMITH_INLINE Vec pick(IVec c, Vec a, Vec b) { return c ? a : b; }
SMITH_INLINE Vec pick(bool c, Vec a, Vec b) { return c ? a : b; }

// The larger and the smaller; NaN wins.
template <class F> SMITH_INLINE F maximum(F a, F b) { return pick(b != b, b, pick(b > a, b, a)); }
template <class F> SMITH_INLINE F minimum(F a, F b) { return pick(b != b, b, pick(b < a, b, a)); }

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

// body(lane, i) for i = 0, kLanes, ...: U vectors at a time, then one, then single elements. lane.u tells the
// vectors of one turn apart.
template <class T, int U> struct Lane { using F = T; static constexpr int u = U; };
template <int U, class Body> SMITH_INLINE void along(long n, Body body) {
  long i = 0;
  for (; i + U * kLanes <= n; i += U * kLanes)
    [&]<int... u>(std::integer_sequence<int, u...>) { (body(Lane<Vec, u>(), i + u * kLanes), ...); }(std::make_integer_sequence<int, U>());
  if constexpr (U > 1)
    for (; i + kLanes <= n; i += kLanes) body(Lane<Vec, 0>(), i);
  for (; i < n; ++i) body(Lane<float, 0>(), i);
}

// The larger of x and a number that is not NaN: one instruction, and a NaN in x stays.
template <class F> SMITH_INLINE F at_least(F x, float low) { return pick(set<F>(low) > x, set<F>(low), x); }
template <class F> SMITH_INLINE F at_most(F x, float high) { return pick(set<F>(high) < x, set<F>(high), x); }

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

extern "C" void kernel(const float* __restrict x, const float* __restrict scale, const float* __restrict bias, float* __restrict y) {
  for (long i = 0; i < 16; ++i) {
    float y_centre;
    float y_drift;
    float y_inverse;
    float y_mean;
    float y_squares;
    float y_total;
    Partial<Plus, 4> y_total_sum1(0.0f);
    along<4>(64, [&](auto lane, long r) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto x_2 = load<F>(x + i * 64 + r);
      y_total_sum1.take(lane, x_2);
    });
    y_total = y_total_sum1.result();
    y_centre = y_total / 64.0f;
    y_drift = 0.0f;
    Partial<Plus, 4> y_drift_sum3(0.0f);
    Partial<Plus, 4> y_squares_sum4(0.0f);
    along<4>(64, [&](auto lane, long r_2) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto x_5 = load<F>(x + i * 64 + r_2);
      y_drift_sum3.take(lane, x_5 - y_centre);
      const auto x_6 = load<F>(x + i * 64 + r_2);
      const auto t7 = x_6 - y_centre;
      y_squares_sum4.take(lane, t7 * t7);
    });
    y_drift = Plus::of<float>(y_drift, y_drift_sum3.result());
    y_squares = y_squares_sum4.result();
    y_mean = y_centre + (y_drift / 64.0f);
    const auto t8 = y_drift / 64.0f;
    y_inverse = 1.0f / (sqrt_of((at_least((y_squares / 64.0f) - (t8 * t8), 0.0f)) + (1e-05f)));
    along<2>(64, [&](auto lane, long i_8) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto x_9 = load<F>(x + i * 64 + i_8);
      const auto scale_10 = load<F>(scale + i_8);
      const auto bias_11 = load<F>(bias + i_8);
      store(y + i * 64 + i_8, (((x_9 - y_mean) * y_inverse) * scale_10) + bias_11);
    });
  }
}
