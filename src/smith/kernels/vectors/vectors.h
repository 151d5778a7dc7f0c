// One vector of floats, as wide as the machine has them. What works on vectors works on single elements too
// (F = Vec or F = float), so that loops and what is left over at their ends share one body.
#pragma once

namespace {

#define SMITH_INLINE inline __attribute__((always_inline))

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

template <class F>
struct Of {
  using I = int;
};
template <>
struct Of<Vec> {
  using I = IVec;
};
template <class F>
using Int = typename Of<F>::I;

// x - 0 is x, and costs nothing; 0 + x would be an addition: it turns -0 into 0.
template <class F>
SMITH_INLINE F set(float x) {
  if constexpr (sizeof(F) == 4)
    return x;
  else
    return x - Vec{};
}
template <class F>
SMITH_INLINE F load(const float* p) {
  if constexpr (sizeof(F) == 4)
    return *p;
  else
    return *(const VecAt*)p;
}
SMITH_INLINE void store(float* p, float x) { *p = x; }
SMITH_INLINE void store(float* p, Vec x) { *(VecAt*)p = x; }
SMITH_INLINE float pick(bool c, float a, float b) { return c ? a : b; }
SMITH_INLINE Vec pick(IVec c, Vec a, Vec b) { return c ? a : b; }
SMITH_INLINE Vec pick(bool c, Vec a, Vec b) { return c ? a : b; }

}  // namespace
