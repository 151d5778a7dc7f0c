// How often the warps of the sample run each stretch of instructions: a warp runs it as often as the lane
// that runs it most, so lanes that go different ways cost what they cost on a device. Between two barriers
// all lanes are taken together.
#pragma once

#include <stdint.h>

namespace kfe::check {

void code_begins_launch();
void code_ran(uintptr_t pc);  // by the thread that runs now; a return address at the stretch's beginning
void code_phase_ends();       // at barriers and at the end of a block
void code_launch_ends();

}  // namespace kfe::check
