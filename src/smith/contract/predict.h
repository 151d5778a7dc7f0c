// How long a contraction will take, from its schedule alone: what ranks neighbouring schedules before one of
// them is built. Ratios between schedules of one contraction are what it is made for, not times.
#pragma once

#include <vector>

#include "smith/contract/contraction_schedule.h"

namespace kforge::smith {

// Cycles of the thread that ends last.
double predicted_cycles(const Contraction& contraction, const ContractionSchedule& schedule,
                        const Machine& machine);

// Moves away from `now`, the most promising first and those that the model sees clearly behind it last.
// Their reasons say what is expected. Other arithmetic and other algorithms keep their places in front.
std::vector<ScheduleMove> ranked(std::vector<ScheduleMove> moves, const ContractionSchedule& now,
                                 const Contraction& contraction, const Machine& machine);

}  // namespace kforge::smith
