// Gates "races", "bounds" and "barriers": the program once more, in the variant of the emulator that looks at
// every access, on the smallest shapes there are. A race is a mistake and no dishonesty, so a finding is a
// wrong value.
#pragma once

#include "generate/candidate.h"
#include "judge/stopwatch.h"
#include "judge/workspace.h"
#include "verify/verdict.h"

namespace kforge {

// REQUIRES: a device platform that is emulated.
Result<void> judge_by_emulator(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                               Stopwatch& watch, Verdict& verdict);

}  // namespace kforge
