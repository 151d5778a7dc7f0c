// Under an emulator a call takes a hundred times as long as on the machine itself: one of them tells whether
// the gates can be judged on the asked shapes at all.
#pragma once

#include "base/result.h"
#include "execute/program_process.h"
#include "verify/verdict.h"

namespace kforge {

// All value gates of one program may take this long; they call it about this often.
inline constexpr double kGatesSeconds = 60;
inline constexpr int kCallsOfAllGates = 20;

// False when a trial call predicts more than that. A program that fails is within reach: the gates say how.
Result<bool> gates_within_reach(const JudgeContext& context, const ProgramSpec& program);

// What is said of a program that is not, and does not claim to be right on shapes that are.
Failure out_of_reach();

}  // namespace kforge
