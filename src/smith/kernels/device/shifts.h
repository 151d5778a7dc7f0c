// Shifts of whole numbers by any number of bits.
#pragma once

#include "smith/kernels/device/spelling.h"

namespace {

FN WHOLE shifted_left(WHOLE a, WHOLE by) { return by >= 64 ? 0 : a << TO_INT(by); }

FN WHOLE shifted_right(WHOLE a, WHOLE by) {
  return by >= 64 ? 0 : by <= 0 ? a : (a >> TO_INT(by)) & ((TO_WHOLE(1) << (64 - TO_INT(by))) - 1);
}

}  // namespace
