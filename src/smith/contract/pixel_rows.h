// Convolutions with pixels as rows of the register tile and filters along its vectors: for images whose rows
// or pixels fill vectors badly.
#pragma once

#include "smith/contract/convolution.h"

namespace kforge::smith {

// One group, filters known before the first call, no phases.
bool pixel_rows_fit(const Convolution& convolution);

// The tile, and blocks from the sizes of the caches.
ContractionSchedule pixel_rows_schedule(const Convolution& convolution, const Machine& machine, int threads);

// Expected time in proportion to that of `plain`, a schedule with pixels along vectors.
double pixel_rows_cost(const Convolution& convolution, const ContractionSchedule& schedule,
                       const ContractionSchedule& plain);

std::vector<ScheduleMove> pixel_rows_neighbours(const ContractionSchedule& schedule,
                                                const Convolution& convolution,
                                                const ContractionSchedule& plain);

Result<ContractionCode> emit_pixel_rows(const Convolution& convolution, const ContractionSchedule& schedule);

}  // namespace kforge::smith
