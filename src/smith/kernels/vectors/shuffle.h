// Lanes in another order: shuffled<kPattern>(a, b) has in lane i lane kPattern(i) of a and b, one behind the
// other.
#pragma once

#include <utility>

#include "smith/kernels/vectors/vectors.h"

namespace {

template <auto kPattern, int... i>
SMITH_INLINE Vec shuffled(Vec a, Vec b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, kPattern(i)...);
}
template <auto kPattern>
SMITH_INLINE Vec shuffled(Vec a, Vec b) {
  return shuffled<kPattern>(a, b, std::make_integer_sequence<int, int(kLanes)>());
}

}  // namespace
