// Convolutions where each channel is filtered alone: no product of matrices, a walk over planes.
#pragma once

#include "smith/contract/convolution.h"

namespace kforge::smith {

bool is_depthwise(const Convolution& convolution);

// `image`: the padded copy that is filtered; read in place where nothing is padded.
Result<ContractionCode> emit_depthwise(const Convolution& convolution, const ContractionSchedule& schedule,
                                       const StagedImage& image);

}  // namespace kforge::smith
