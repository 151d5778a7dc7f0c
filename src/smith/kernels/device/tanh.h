// Hyperbolic tangent.
#pragma once

#include "smith/kernels/device/expm1.h"
#include "smith/kernels/device/sign.h"
#include "smith/kernels/device/spelling.h"

namespace {

// m / (m + 2) with m = exp(2 |x|) - 1.
FN float tanh_of(float x) {
  const float a = ABS(x), m = expm1_of((a > 10.0f ? 10.0f : a) * 2.0f);
  return x != x ? x : with_sign_of(m / (m + 2.0f), x);
}

}  // namespace
