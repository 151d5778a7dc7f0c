// One attempt judged, against the gates, the baselines and what it has to beat; and what follows from that. A
// program of a model goes through every gate first and is timed then; programs KForge wrote itself are raced
// first, and only a winner is judged.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generate/attempt.h"
#include "judge/race.h"
#include "judge/workspace.h"

namespace kforge {

struct JudgeSettings {
  double seconds = 2;  // of timing
  int rounds = 0;
  bool check_only = false;  // values only, on inputs drawn for this program: nothing is left to confirm
  std::string kernel_path;  // where the program will be found
};

// Every gate, then the clock. `best` and `rival` may be null or the same.
Result<AttemptJudgement> judge_fully(Workspace& workspace, const std::expected<Candidate, Failure>& program,
                                     const Attempt* best, const Attempt* rival,
                                     const JudgeSettings& settings);

// Whether it is better than its rival, and the new best: verified, and faster by the whole interval.
Decision decide(const AttemptJudgement& judgement, const Attempt* best, const Attempt* rival);

// The races of a run: one per shape case, with the best program kept alive.
class Races {
 public:
  // `baseline_ns`: of the fastest baseline, for the figure shown meanwhile; 0: none.
  Races(Workspace& workspace, double baseline_ns, std::string baseline);
  // A loser's outcome is kSlower; a winner went through the value gates and is the incumbent from now on.
  Result<AttemptJudgement> judge(const std::expected<Candidate, Failure>& program, const Attempt* best);
  // Stops whatever runs, so that something else may use the cores.
  void pause();

 private:
  // After a resume: the best so far takes its place without a verdict.
  Result<void> set_incumbent(const Candidate& best);

  Workspace& workspace_;
  double baseline_ns_;
  std::string baseline_;
  std::vector<std::unique_ptr<Race>> races_;
  bool has_incumbent_ = false;
};

}  // namespace kforge
