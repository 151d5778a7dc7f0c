// The remainder of a division, with the sign of the dividend.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN float remainder_of(float a, float b) { return a - b * trunc(a / b); }

}  // namespace
