// Whether a program makes sense: what every pass must keep.
#pragma once

#include "smith/graph/program.h"

namespace kforge::smith {

// Every tensor that is read or written is known; results are defined before they are read; stages have as
// many variables as dimensions and do not write to what may not change. `prepared` runs before `program`. An
// Error names the stage and what is wrong.
Result<> check_program(const Program& program, const Program& prepared = {});

}  // namespace kforge::smith
