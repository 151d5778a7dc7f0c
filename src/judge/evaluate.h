// `kforge eval`: one kernel goes in, an honest verdict comes out. The path of a candidate through the gates
// is in session.cc, in the order in which it happens.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "judge/session.h"
#include "report/eval_report.h"
#include "report/progress.h"

namespace kforge {

struct EvalOptions : SessionOptions {
  std::filesystem::path kernel;  // --kernel: file or folder
  bool check_only = false;       // --check: value gates only
  int rounds = 0;                // --rounds: exactly this many; 0: until the interval is narrow
  double seconds = 4;            // --seconds: time for rounds, after the least number of them
};

// An Error is the machinery's or the user's (no such task, no sandbox); a failing kernel is a report.
Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress);

}  // namespace kforge
