// Lanes one by one, for what has no vector form.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

// fn(lane number)
template <class F, class Fn>
SMITH_INLINE F each(Fn fn) {
  if constexpr (sizeof(F) == 4) {
    return fn(0);
  } else {
    F r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = fn(lane);
    return r;
  }
}

template <class F, class Fn>
SMITH_INLINE auto each_mask(Fn fn) {
  if constexpr (sizeof(F) == 4) {
    return bool(fn(0));
  } else {
    IVec r;
    for (long lane = 0; lane < kLanes; ++lane) r[lane] = fn(lane) ? -1 : 0;
    return r;
  }
}

}  // namespace
