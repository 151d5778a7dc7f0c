// The remainder of whole numbers, with the sign of the divisor.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN WHOLE floor_mod(WHOLE a, WHOLE b) {
  const WHOLE r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace
