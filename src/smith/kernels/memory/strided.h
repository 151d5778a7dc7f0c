// Elements that do not lie side by side, as a vector.
#pragma once

#include "smith/kernels/vectors/shuffle.h"

namespace {

// p[0], p[kStep], p[2 kStep], ...
template <class F, long kStep>
SMITH_INLINE F strided(const float* p) {
  if constexpr (sizeof(F) == 4) {
    return *p;
  } else if constexpr (kStep == 2) {
    const Vec low = load<Vec>(p), high = load<Vec>(p + kLanes - 1);  // ends with the last that is wanted
    return shuffled<[](int i) { return 2 * i + (i < kLanes / 2 ? 0 : 1); }>(low, high);
  } else {
    F r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = p[lane * kStep];
    return r;
  }
}
// p[0], p[-1], p[-2], ...
template <class F>
SMITH_INLINE F backward(const float* p) {
  if constexpr (sizeof(F) == 4) {
    return *p;
  } else {
    const Vec x = load<Vec>(p - (kLanes - 1));
    return shuffled<[](int i) { return int(kLanes) - 1 - i; }>(x, x);
  }
}

}  // namespace
