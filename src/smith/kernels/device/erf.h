// The error function and its complement.
#pragma once

#include "smith/kernels/device/exp_parts.h"
#include "smith/kernels/device/sign.h"
#include "smith/kernels/device/spelling.h"

namespace {

// erf for |x| < 0.94.
FN float erf_small(float x) {
  const float z = x * x;
  float p = z * 8.21278053e-5f - 8.10505451e-4f;
  p = p * z + 5.19768491e-3f;
  p = p * z - 2.68580425e-2f;
  p = p * z + 1.12836710e-1f;
  p = p * z - 3.76126322e-1f;
  p = p * z + 1.12837917f;
  return p * x;
}

// exp(-a^2) times a polynomial in (a - 2) / (a + 2), for a = |x|; a^2 is taken exactly, in two parts.
FN float erfc_of(float x) {
  const float whole_a = ABS(x), a = whole_a > 10.1f ? 10.1f : whole_a, q = (a - 2.0f) / (a + 2.0f);
  float p = q * 8.29498530e-5f + 1.75997835e-4f;
  p = p * q - 4.01850422e-4f;
  p = p * q - 1.42829469e-3f;
  p = p * q + 1.25122796e-3f;
  p = p * q + 8.71211838e-3f;
  p = p * q - 8.03004981e-3f;
  p = p * q - 5.42183374e-2f;
  p = p * q + 1.64050916e-1f;
  p = p * q - 1.66030490e-1f;
  p = p * q - 9.27638161e-2f;
  p = p * q + 1.27697838f;
  const float high = BITS_FLOAT(FLOAT_BITS(a) & ~4095), square = -high * high;
  const float n = FLOOR(square * 1.44269504f + 0.5f);
  const float m = exp_rest(square, (high - a) * (high + a), n);
  const int half_ = TO_INT(n) / 2;
  const float y =
      (m + 1.0f) * (p / (a * 2.0f + 1.0f)) * power_of_two(half_) * power_of_two(TO_INT(n) - half_);
  const float far_ = x < 0.0f ? 2.0f - y : y;
  return x != x ? x : a < 0.5f ? 1.0f - erf_small(x) : far_;
}

FN float erf_of(float x) { return x * x < 0.88f ? erf_small(x) : with_sign_of(1.0f - erfc_of(ABS(x)), x); }

}  // namespace
