// softmax
//
// y_largest to y share their outer loops: what passes between them stays in cache
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

// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35.
template <class F> struct ExpParts { Int<F> n; F m; };
template <class F> SMITH_INLINE ExpParts<F> exp_parts(F x, F tail) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to whole numbers
  const F shifted = x * 1.44269504f + magic;
  const F whole = shifted - magic;
  const F r = ((x - whole * 0.693359375f) + whole * 2.12194440e-4f) + tail;
  F p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {__builtin_bit_cast(Int<F>, shifted) - 0x4b400000, p * (r * r) + r};
}
template <class F> SMITH_INLINE F power_of_two(Int<F> n) { return __builtin_bit_cast(F, (n + 127) << 23); }
// In two steps, so that results down to the smallest denormal are right.
template <class F> SMITH_INLINE F scaled(F x, Int<F> n) {
  const Int<F> half = n >> 1;
  return x * power_of_two<F>(half) * power_of_two<F>(n - half);
}

template <class F> SMITH_INLINE F exp_of(F x) {
  const F cut = at_most(at_least(x, -104.5f), 89.0f);  // 0 and infinity beyond
  const ExpParts<F> e = exp_parts<F>(cut, set<F>(0.0f));
  return scaled<F>(e.m + 1.0f, e.n);
}


}  // namespace

extern "C" void kernel(const float* __restrict x, float* __restrict y) {
  for (long i = 0; i < 16; ++i) {
    alignas(64) float y_exp[128];
    float y_largest;
    float y_scale;
    float y_sum;
    Partial<Larger, 4> y_largest_sum1(-__builtin_inff());
    along<4>(128, [&](auto lane, long r) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto x_2 = load<F>(x + i * 128 + r);
      y_largest_sum1.take(lane, x_2);
    });
    y_largest = y_largest_sum1.result();
    Partial<Plus, 1> y_sum_sum3(0.0f);
    along<1>(128, [&](auto lane, long i_3) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto x_4 = load<F>(x + i * 128 + i_3);
      store(y_exp + i_3, exp_of(x_4 - y_largest));
      const auto y_exp_5 = load<F>(y_exp + i_3);
      y_sum_sum3.take(lane, y_exp_5);
    });
    y_sum = y_sum_sum3.result();
    y_scale = 1.0f / y_sum;
    along<2>(128, [&](auto lane, long i_7) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      const auto y_exp_6 = load<F>(y_exp + i_7);
      store(y + i * 128 + i_7, y_exp_6 * y_scale);
    });
  }
}
