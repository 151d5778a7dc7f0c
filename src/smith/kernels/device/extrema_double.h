// The larger and the smaller of doubles; NaN wins.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN double larger_double(double a, double b) { return b > a || b != b ? b : a; }

FN double smaller_double(double a, double b) { return b < a || b != b ? b : a; }

}  // namespace
