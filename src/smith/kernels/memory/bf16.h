// bfloat16 in memory: the upper half of a float.
#pragma once

#include <cstdint>

#include "smith/kernels/memory/integers.h"

namespace {

typedef unsigned short HalfVec __attribute__((vector_size(kLanes * 2), aligned(2), may_alias));
typedef unsigned short Halves __attribute__((vector_size(kLanes * 2)));
typedef unsigned UVec __attribute__((vector_size(kLanes * 4)));
template <class F>
SMITH_INLINE F load_bf16(const uint16_t* p) {
  if constexpr (sizeof(F) == 4)
    return __builtin_bit_cast(float, uint32_t(*p) << 16);
  else
    return __builtin_bit_cast(Vec, widened(p) << 16);
}

// Rounds to nearest even; NaN stays NaN.
SMITH_INLINE void store_bf16(uint16_t* p, float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  *p = x != x ? 0x7fc0 : uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
SMITH_INLINE void store_bf16(uint16_t* p, Vec x) {
  const UVec bits = __builtin_bit_cast(UVec, x);
  const UVec rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const UVec nan = UVec{} + 0x7fc0;
  *(HalfVec*)p = __builtin_convertvector((x != x) ? nan : rounded, Halves);
}

}  // namespace
