// `kforge eval`: one kernel goes in, an honest verdict comes out.
#pragma once

#include <filesystem>

#include "base/progress.h"
#include "base/result.h"
#include "judge/setup.h"
#include "store/eval_report.h"

namespace kforge {

struct EvalOptions : JudgeOptions {
  std::filesystem::path kernel;  // --kernel: file or folder
  bool check_only = false;       // --check: value gates only
  int rounds = 0;                // --rounds: exactly this many; 0: until the interval is narrow
  double seconds = 4;            // --seconds: time for rounds, after the least number of them
};

// An Error is the machinery's or the user's (no such task, no sandbox); a failing kernel is a report.
Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress);

}  // namespace kforge
