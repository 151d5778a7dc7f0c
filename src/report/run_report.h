// A run of `kforge forge` as people, scripts and files get it. Made from the store's records alone, so that a
// run that is under way, was killed or has ended is shown the same way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/readable.h"
#include "generate/attempt.h"
#include "report/eval_terminal.h"
#include "report/progress.h"
#include "search/ending.h"
#include "store/eval_report.h"
#include "store/runs.h"

namespace kforge {

struct CostReport {
  int calls = 0, lost_calls = 0;
  std::int64_t input_tokens = 0, cache_read_tokens = 0, output_tokens = 0;
  std::optional<double> dollars;  // nothing: no price is known
  bool estimated = false;         // some service said no figures
  double model_seconds = 0;
};

struct RunReport {
  static constexpr std::string_view kSchema = "kforge.forge/1";

  std::string id, created_at, task, platform, shape_set, precision, strategy, analyst, budget;
  std::vector<std::string> generators;
  RunState state = RunState::kRunning;
  std::optional<Ending> ended;  // why
  std::optional<int> best_attempt;
  std::optional<EvalReport> best;  // the confirmation run
  std::string kernel_path, folder;
  bool folder_missing = false;               // it was written, and is gone
  bool has_check = false;                    // the folder holds callers that check themselves
  std::vector<std::string> judge_arguments;  // of `kforge eval`, to judge as the run did
  std::vector<Attempt> attempts;
  CostReport cost;
  std::map<int, CostReport> cost_of_attempt;
  std::map<std::string, double> seconds;  // "prepare", "search", "confirm"
  std::vector<std::string> notes;

  bool found() const { return best && best->passed(); }
};

// "the target was reached".
std::string ended_words(const std::optional<Ending>& ended);
// "Verified: 1.31x [1.20, 1.40] over onednn": never more than was shown.
std::string headline_of(const RunReport& report);

std::string to_json(const RunReport& report);
std::string to_markdown(const RunReport& report);
std::string to_terminal(const RunReport& report, const TerminalStyle& style);
// One line of the live display and of the table.
std::string attempt_line(const Attempt& attempt, const Paint& paint, std::size_t width);
// How to compile, call, check and judge the kernel, as it was judged: lines of at most `width` characters
// with commands to be typed in the folder `from`.
std::string usage_of_kernel(const RunReport& report, const std::filesystem::path& from, std::size_t width);

// What the live terminal is told.
class RunView : public Progress {
 public:
  // A line that stays.
  virtual void line(std::string_view text) = 0;
};
// Lines and a moving status on a terminal; silence elsewhere and when `quiet`. `always`: lines also
// elsewhere; `stages`: and a line for each stage.
std::unique_ptr<RunView> make_run_view(bool quiet, bool always, bool stages = false);

}  // namespace kforge
