// The remainder of a division, with the sign of the divisor.
#pragma once

#include "smith/kernels/device/remainder.h"
#include "smith/kernels/device/spelling.h"

namespace {

FN float floor_remainder(float a, float b) {
  const float r = FMOD(a, b);
  return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}

}  // namespace
