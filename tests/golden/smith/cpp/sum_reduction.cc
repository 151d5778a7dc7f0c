// sum_reduction
//
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


}  // namespace

extern "C" void kernel(const float* __restrict x, float* __restrict y) {
  for (long i = 0; i < 2; ++i) {
    along<2>(24, [&](auto lane, long i_2) __attribute__((always_inline)) {
      using F = typename decltype(lane)::F;
      store(y + i * 24 + i_2, set<F>(0.0f));
    });
    for (long r_o = 0; r_o < 4; ++r_o) {
      along<2>(24, [&](auto lane, long i_2_1) __attribute__((always_inline)) {
        using F = typename decltype(lane)::F;
        const auto y_2 = load<F>(y + i * 24 + i_2_1);
        F y_sum1 = y_2;
        #pragma GCC unroll 4
        for (long r = 0; r < 4; ++r) {
          const auto x_3 = load<F>(x + i * 384 + r_o * 96 + r * 24 + i_2_1);
          y_sum1 = y_sum1 + x_3;
        }
        store(y + i * 24 + i_2_1, y_sum1);
      });
    }
  }
}
