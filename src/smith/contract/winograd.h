// Convolutions with kernels of 3 x 3 by Winograd's minimal filtering.
#pragma once

#include "smith/contract/convolution.h"

namespace kforge::smith {

// Stride and dilation 1, 3 x 3 taps along height and width (any number along depth), filters known before the
// first call, and enough channels and filters for the transforms to pay.
bool winograd_fits(const Convolution& convolution);

// As far as the schedule of the plain form goes: the same tile, blocks of tiles and filters.
ContractionSchedule winograd_schedule(const ContractionSchedule& plain);
std::vector<ScheduleMove> winograd_neighbours(const ContractionSchedule& schedule,
                                              const Convolution& convolution,
                                              const ContractionSchedule& plain);

Result<ContractionCode> emit_winograd(const Convolution& convolution, const ContractionSchedule& schedule);

}  // namespace kforge::smith
