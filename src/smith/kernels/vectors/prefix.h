// Running sums (products, extrema) across the lanes of a vector.
#pragma once

#include "smith/kernels/vectors/shuffle.h"

namespace {

// x0, x0 + x1, x0 + x1 + x2, ...: every second group of 1, 2, 4, ... lanes takes what the one before it ends
// with.
template <class How, int W = 1>
SMITH_INLINE Vec prefix(Vec x, float neutral) {
  if constexpr (W >= kLanes) {
    return x;
  } else {
    const Vec before =
        shuffled<[](int i) { return i / W % 2 ? i / W * W - 1 : int(kLanes) + i; }>(x, set<Vec>(neutral));
    return prefix<How, 2 * W>(How::of(x, before), neutral);
  }
}
// Lanes one up, the first lane of `low` below them.
SMITH_INLINE Vec one_up(Vec x, Vec low) {
  return shuffled<[](int i) { return i == 0 ? int(kLanes) : i - 1; }>(x, low);
}
// The last lane in all of them.
SMITH_INLINE Vec last_lane(Vec x) {
  return shuffled<[](int) { return int(kLanes) - 1; }>(x, x);
}
SMITH_INLINE Vec mirrored(Vec x) {
  return shuffled<[](int i) { return int(kLanes) - 1 - i; }>(x, x);
}

}  // namespace
