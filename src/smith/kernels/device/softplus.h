// log(1 + exp(x)).
#pragma once

#include "smith/kernels/device/log1p.h"
#include "smith/kernels/device/spelling.h"

namespace {

FN float softplus_of(float x) { return (x > 0.0f ? x : 0.0f) + LOG1P(EXP(-ABS(x))); }

}  // namespace
