// The distribution function of the normal distribution.
#pragma once

#include "smith/kernels/device/erf.h"
#include "smith/kernels/device/spelling.h"

namespace {

FN float normal_cdf(float x) { return 0.5f * erfc_of(-0.70710678f * x); }

}  // namespace
