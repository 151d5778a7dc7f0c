// The larger, the smaller and the magnitude of whole numbers.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN WHOLE larger_whole(WHOLE a, WHOLE b) { return b > a ? b : a; }

FN WHOLE smaller_whole(WHOLE a, WHOLE b) { return b < a ? b : a; }

FN WHOLE whole_magnitude(WHOLE a) { return a < 0 ? -a : a; }

}  // namespace
