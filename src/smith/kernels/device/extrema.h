// The larger and the smaller; NaN wins.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN float larger(float a, float b) { return b > a || b != b ? b : a; }

FN float smaller(float a, float b) { return b < a || b != b ? b : a; }

}  // namespace
