// The nearest bfloat16.
#pragma once

#include <cstdint>

#include "smith/kernels/vectors/vectors.h"

namespace {

SMITH_INLINE float to_bf16(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return x != x ? x : __builtin_bit_cast(float, (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u);
}

}  // namespace
