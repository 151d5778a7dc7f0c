// Booleans in memory, one byte each, and masks of lanes.
#pragma once

#include <cstdint>

#include "smith/kernels/memory/integers.h"
#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F>
SMITH_INLINE auto load_mask(const uint8_t* p) {
  if constexpr (sizeof(F) == 4)
    return *p != 0;
  else
    return widened(p) != 0;
}

SMITH_INLINE void store_mask(uint8_t* p, bool x) { *p = x; }
SMITH_INLINE void store_mask(uint8_t* p, IVec x) {
  for (long lane = 0; lane < kLanes; ++lane) p[lane] = x[lane] != 0;
}

}  // namespace
