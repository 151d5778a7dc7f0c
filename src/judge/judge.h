// One program through every gate, and timed against the baselines. judge.cc is the table of contents.
#pragma once

#include <expected>
#include <vector>

#include "generate/candidate.h"
#include "judge/judgement.h"
#include "judge/workspace.h"

namespace kforge {

// What there is to judge: a program, or why none could be read. That is judged too: it is the verdict.
using Program = std::expected<Candidate, Failure>;

// How far a program is judged, and against whom it is timed.
struct JudgeRequest {
  bool check_only = false;                   // value gates only
  std::vector<const Candidate*> incumbents;  // timed beside the baselines; each was verified before
  bool fastest_baseline_only = false;        // the others once it is known which one is the fastest
  // Check inputs from a seed drawn now: wherever the verdict is final. A search asks again and again, and its
  // programs share what the oracle found.
  bool fresh_inputs = false;
  bool baseline_threads_anew = false;  // do not go by what an earlier judging found quicker
  bool passed_before = false;  // on other inputs: baselines are judged beside it, not after it has passed
  int rounds = 0;              // exactly this many; 0: until the interval is narrow
  double seconds = 4;          // time for rounds, after the least number of them
  double hopeless = 0.2;       // stop early once surely slower than this times the quickest other program
};

// An Error is the machinery's; a program that fails is a Judgement.
Result<Judgement> judge(Workspace& workspace, const Program& program, const JudgeRequest& request);

}  // namespace kforge
