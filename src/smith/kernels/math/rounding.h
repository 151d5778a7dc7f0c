// Floor, ceiling and nearest, ties to even.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F>
SMITH_INLINE F floor_of(F x) {
  if constexpr (sizeof(F) == 4)
    return __builtin_floorf(x);
  else {
    for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_floorf(x[lane]);
    return x;
  }
}
template <class F>
SMITH_INLINE F ceil_of(F x) {
  if constexpr (sizeof(F) == 4)
    return __builtin_ceilf(x);
  else {
    for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_ceilf(x[lane]);
    return x;
  }
}
template <class F>
SMITH_INLINE F round_of(F x) {
  if constexpr (sizeof(F) == 4)
    return __builtin_nearbyintf(x);
  else {
    for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_nearbyintf(x[lane]);
    return x;
  }
}

}  // namespace
