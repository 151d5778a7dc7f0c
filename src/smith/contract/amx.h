// Contractions on AMX tiles: bf16 products with fp32 sums, alone or as three or six products of split values.
#pragma once

#include "smith/contract/contraction_code.h"

namespace kforge::smith {

// REQUIRES: check(schedule, contraction) and an arithmetic other than fp32.
Result<ContractionCode> emit_amx_contraction(const Contraction& contraction,
                                             const ContractionSchedule& schedule);

}  // namespace kforge::smith
