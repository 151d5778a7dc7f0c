// Positions along a vector, as integers and as floats.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

// first, first + step, first + 2 step, ... in the lanes.
template <class F>
SMITH_INLINE Int<F> positions(long first, int step) {
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

}  // namespace
