// One attempt judged: against the gates, the baselines and what it has to beat. A program of a model goes
// through every gate first and is timed then; programs KForge wrote itself are raced first, and only a winner
// is judged.
#pragma once

#include <memory>
#include <vector>

#include "forge/attempts.h"
#include "judge/race.h"
#include "judge/workspace.h"

namespace kforge {

struct JudgedAttempt {
  VerdictRecord verdict;
  std::string result;                // id in the store; empty for one that was only raced
  std::optional<Candidate> program;  // what was judged
  std::optional<Build> build;        // of its first shape case
};

struct JudgeSettings {
  double seconds = 2;  // of timing
  int rounds = 0;
};

// Every gate, then the clock. `best` and `rival` may be null or the same.
Result<JudgedAttempt> judge_fully(Workspace& session, const std::expected<Candidate, Failure>& program,
                                  const Attempt* best, const Attempt* rival, const JudgeSettings& settings);

// The races of a run: one per shape case, with the best program kept alive.
class Races {
 public:
  // `baseline_ns`: of the fastest baseline, for the figure shown meanwhile; 0: none.
  Races(Workspace& session, double baseline_ns, std::string baseline);
  // A loser's outcome is "slower"; a winner went through the value gates.
  Result<JudgedAttempt> judge(const std::expected<Candidate, Failure>& program, const Attempt* best);
  // After a resume: the best so far takes its place without a verdict.
  Result<void> seat(const Candidate& best);
  void rest();

 private:
  Workspace& session_;
  double baseline_ns_;
  std::string baseline_;
  std::vector<std::unique_ptr<Race>> races_;
  bool seated_ = false;
};

}  // namespace kforge
