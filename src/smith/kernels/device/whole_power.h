// Powers of whole numbers.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN WHOLE whole_power(WHOLE base, WHOLE exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  WHOLE result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace
