// log(1 + x).
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN float log1p_of(float x) {
  const float u = x + 1.0f, d = u - 1.0f;  // d: what of x arrived in u
  if (d == 0.0f) return x;
  return u < DEVICE_INFINITY ? LOG(u) * (x / d) : u;
}

}  // namespace
