// The timed gates of one case: the program against its baselines and against earlier programs of its search.
#pragma once

#include "judge/judge.h"
#include "judge/stopwatch.h"

namespace kforge {

// Adds times, incumbents, baselines that are absent or fail a gate, and the seed to `found`, and the timed
// gates to its verdict. REQUIRES: the value gates were passed; they left an estimate of the time there.
Result<void> time_case(Workspace& workspace, std::size_t index, const JudgeContext& context,
                       const ProgramSpec& program, const JudgeRequest& request, Stopwatch& watch,
                       CaseJudgement& found);

}  // namespace kforge
