// What every exponential begins with.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35.
FN float exp_rest(float x, float tail, float n) {
  const float r = ((x - n * 0.693359375f) + n * 2.12194440e-4f) + tail;
  float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}
FN float power_of_two(int n) { return BITS_FLOAT((n + 127) << 23); }

}  // namespace
