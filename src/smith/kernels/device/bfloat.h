// Rounding to bfloat16.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

// The upper half of a float, rounded to even.
FN int bfloat_bits(float x) {
  const int bits = FLOAT_BITS(x);
  const int rounded = x != x ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
  return (rounded >> 16) & 0xffff;
}

FN float round_bfloat(float x) { return BITS_FLOAT(bfloat_bits(x) << 16); }

}  // namespace
