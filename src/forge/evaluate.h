// `kforge eval`: one kernel goes in, an honest verdict comes out. The whole path of a candidate, from the file to
// the stored report, is in evaluate.cc, in the order in which it happens.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/eval_report.h"
#include "report/progress.h"
#include "sandbox/sandbox.h"

namespace kforge {

struct EvalOptions {
  std::string task;                        // name or path
  std::filesystem::path kernel;            // --kernel: file or folder
  std::string platform = "cpu";            // --on
  std::string precision = "fp32";          // --precision
  std::string shape_set = "bench";         // --shapes
  bool cold = true;                        // --cache cold|warm
  int threads = 0;                         // --threads; 0: all allowed
  std::vector<std::string> baselines;      // --baseline: names, NAME=FILE, or "none"; empty: every one present
  std::filesystem::path python;            // --python
  bool check_only = false;                 // --check: value gates only
  bool deterministic = false;              // --deterministic
  bool allow_libraries = false;            // --allow-libraries
  std::string march;                       // --march: flag set by name; empty: the best that runs here
  std::optional<SandboxTier> sandbox;      // --sandbox; nothing: the strongest that works
  int rounds = 0;                          // --rounds: exactly this many; 0: until the interval is narrow
  double seconds = 4;                      // --seconds: time for rounds, after the least number of them
  double call_limit_seconds = 0;           // --timeout for one call; 0: from the size of the task
  bool use_build_cache = true;             // --no-build-cache
  bool store = true;                       // --no-store: nothing is written
};

// An Error is the machinery's or the user's (no such task, no sandbox); a failing kernel is a report.
Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress);

}  // namespace kforge
