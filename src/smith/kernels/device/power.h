// Powers of numbers of either sign.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

// Negative bases have powers for whole exponents only.
FN float power_of(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  const float size = pow(ABS(x), y);
  if (x >= 0.0f || x != x) return x == 0.0f ? (y > 0.0f ? 0.0f : DEVICE_INFINITY) : size;
  if (FLOOR(y) != y) return DEVICE_NAN;
  return FLOOR(y * 0.5f) * 2.0f == y ? size : -size;
}

}  // namespace
