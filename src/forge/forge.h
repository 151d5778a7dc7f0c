// `kforge forge`: the two agents in a loop, honestly judged. forge.cc is the loop; what a run has done is in
// the store before the next step begins, so that one killed at any moment goes on where it was.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "forge/budget.h"
#include "judge/workspace.h"
#include "llm/llm.h"
#include "report/run_report.h"
#include "store/runs.h"

namespace kforge {

struct ForgeOptions {
  JudgeOptions session;                               // what eval takes too
  std::vector<std::string> generators = {"builtin"};  // --generator
  std::string analyst = "builtin";                    // --analyst; of "a,b" b takes over when a fails
  std::string strategy = "chain";                     // --strategy
  int width = 0;                                      // --width: lanes, beam, islands; 0: the strategy's own
  int repairs = 3;                                    // --repairs before the search turns away
  Budget budget;                                      // --budget, --attempts
  std::optional<double> target;                       // --target 2.0x: stop when surely reached
  bool check_only = false;  // --check: the first program that passes ends it; nothing is timed or modelled
  int patience = 0;         // --patience: attempts without gain; 0: by kind of agent
  std::string reference;    // --reference FILE|RUN|auto
  std::string from;         // --from FILE|RUN
  std::set<std::string> without;    // --without: blocks of the prompt
  std::set<std::string> profilers;  // --profiler: further ones
  std::filesystem::path out;        // --out: folder for kernel and reports
  std::string record;               // --record: cassette
  std::string config;               // --config: of the models
  double timing_seconds = 2;        // per attempt; the confirmation takes longer
  int timing_rounds = 0;            // exactly so many; 0: until the interval is narrow
  bool callers = true;              // --no-callers: check/ is left out, and the evaluation that it takes
  int seed = 0;                     // --seed: of the search's draws, not of inputs; 0: drawn
};

// Opens a model by its spec; tests put their own here.
using ModelOpener = std::function<Result<std::unique_ptr<ModelClient>>(std::string_view spec)>;

struct ForgeHost {
  RunView* view = nullptr;         // REQUIRED
  std::stop_token stop;            // ends the run after the step under way, with the best so far
  ModelOpener open_model;          // empty: kforge::open_model
  std::function<void()> prepared;  // called before the first candidate, or the first that is gone on with
};

// An Error is the user's or the machinery's; a run that found nothing is a report.
Result<RunReport> forge(const ForgeOptions& options, const ForgeHost& host);
// Goes on with a run; one that has finished is only reported again.
Result<RunReport> resume(std::string_view run, const ForgeHost& host);
// What the records say about a run, finished or not.
Result<RunReport> report_of(RunRecords& records, std::string_view run);

}  // namespace kforge
