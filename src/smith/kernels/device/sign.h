// A number with the sign of another.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN float with_sign_of(float x, float sign) {
  return BITS_FLOAT(FLOAT_BITS(x) | (FLOAT_BITS(sign) & FLOAT_BITS(-0.0f)));
}

}  // namespace
