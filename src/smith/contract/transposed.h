// Transposed convolutions with a stride, by phases.
#pragma once

#include "smith/contract/convolution.h"

namespace kforge::smith {

Result<ContractionCode> emit_transposed(const Convolution& convolution, const ContractionSchedule& schedule);

}  // namespace kforge::smith
