// The timed gates of one case: the program against its baselines and against earlier programs of its search.
#pragma once

#include "judge/judge.h"
#include "judge/stopwatch.h"

namespace kforge {

struct CaseTimes {
  TimedFindings findings;                 // against the baselines; they mean nothing when a gate failed
  std::vector<OpponentTimes> incumbents;  // by JudgeRequest::incumbents
  std::vector<AbsentBaseline> absent;
  std::vector<BaselineRefusal> refusals;
  std::uint64_t seed = 0;  // of the timed inputs
};

// Records the timed gates in the verdict. REQUIRES: it has the value gates, which left an estimate of the
// time there.
Result<CaseTimes> time_case(Workspace& workspace, std::size_t index, const JudgeContext& context,
                            const ProgramSpec& program, const JudgeRequest& request, Stopwatch& watch,
                            Verdict& verdict);

}  // namespace kforge
