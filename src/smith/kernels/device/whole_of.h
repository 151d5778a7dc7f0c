// A float as a whole number.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

// Towards zero; NaN gives 0, what is too large the nearest.
FN WHOLE whole_of(float x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0f) return WHOLE_MOST;
  return x < -9223372036854775808.0f ? WHOLE_LEAST : TO_WHOLE(x);
}

}  // namespace
