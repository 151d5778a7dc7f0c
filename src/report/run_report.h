// A run of `kforge forge` as people, scripts and files get it. Made from the store's records alone, so that a
// run that is under way, was killed or has ended is shown the same way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/readable.h"
#include "generate/plan.h"
#include "report/eval_terminal.h"
#include "report/progress.h"
#include "store/eval_report.h"

namespace kforge {

struct CostReport {
  int calls = 0, lost_calls = 0;
  std::int64_t input_tokens = 0, cache_read_tokens = 0, output_tokens = 0;
  std::optional<double> dollars;  // nothing: no price is known
  bool estimated = false;         // some service said no figures
  double model_seconds = 0;
};

struct AttemptReport {
  int number = 0, parent = -1, lane = 0;
  std::string pass;       // "functional", "optimization"
  std::string generator;  // who made it
  std::string change;     // one line: what was done
  std::string outcome;    // as eval's; also "slower" (lost its race), "pending"
  std::string gate, reason;
  std::optional<double> time_ns;      // as seen during the search: guides it, is never a result
  std::optional<Speedup> speedup;     // over the fastest baseline, likewise
  std::optional<Speedup> over_rival;  // over the program it had to beat
  std::optional<double> modelled_ns;  // where nothing is timed: what the cost model says
  bool accepted = false;              // became the best
  std::optional<Advice> advice;       // it was made on
  std::string kernel_hash, result_id;
  std::string tuning;  // values of its tunables, as a table
  std::string story;   // of a built-in agent's design
  CostReport cost;
  double seconds = 0;  // to make and judge
};

struct RunReport {
  static constexpr std::string_view kSchema = "kforge.forge/1";

  std::string id, created_at, task, platform, shape_set, precision, strategy, analyst, budget;
  std::vector<std::string> generators;
  std::string state;  // "running", "finished"
  std::string ended;  // why
  std::optional<int> best_attempt;
  std::optional<EvalReport> best;  // the confirmation run
  std::string kernel_path, folder;
  std::vector<AttemptReport> attempts;
  CostReport cost;
  std::map<std::string, double> seconds;  // "prepare", "search", "confirm"
  std::vector<std::string> notes;

  bool found() const { return best && best->passed(); }
};

// "it reached the target", for a RunReport::ended word.
std::string ended_words(std::string_view ended);

std::string to_json(const RunReport& report);
std::string to_markdown(const RunReport& report);
std::string to_terminal(const RunReport& report, const TerminalStyle& style);
// One line of the live display and of the table.
std::string attempt_line(const AttemptReport& attempt, const Paint& paint, std::size_t width);
// How to compile and call the kernel: a few lines.
std::string usage_of_kernel(const RunReport& report);

// What the live terminal is told.
class RunView : public Progress {
 public:
  // A line that stays.
  virtual void line(std::string_view text) = 0;
};
// Lines and a moving status on a terminal; silence elsewhere and when `quiet`. `always`: lines also
// elsewhere.
std::unique_ptr<RunView> make_run_view(bool quiet, bool always);

}  // namespace kforge
