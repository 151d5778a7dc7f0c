// Rounding to float16.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

// The nearest number that float16 has: 11 bits, or a multiple of 2^-24.
FN float round_half(float x) {
  const float a = ABS(x);
  if (!(a < 65520.0f)) return a >= 65520.0f ? (x > 0.0f ? DEVICE_INFINITY : -DEVICE_INFINITY) : x;
  const int exponent = (FLOAT_BITS(a) >> 23) - 127;
  const float unit = BITS_FLOAT(((exponent < -14 ? -14 : exponent) - 10 + 127) << 23);
  return RINT(x / unit) * unit;
}

}  // namespace
