// exp(x) - 1.
#pragma once

#include "smith/kernels/device/exp_parts.h"
#include "smith/kernels/device/spelling.h"

namespace {

FN float expm1_of(float x) {
  const float cut = x < -30.0f ? -30.0f : x > 89.0f ? 89.0f : x;
  const float n = FLOOR(cut * 1.44269504f + 0.5f);
  const float m = exp_rest(cut, 0.0f, n), half_ = power_of_two(TO_INT(n) - 1);
  const float y = (half_ * m + (half_ - 0.5f)) * 2.0f;
  return x != x || ABS(x) < 1e-30f ? x : y;
}

}  // namespace
