// 1 / (1 + exp(-x)).
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN float sigmoid_of(float x) {
  const float e = EXP(-ABS(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}

}  // namespace
