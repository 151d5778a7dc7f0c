// `kforge recheck RESULT`: derives a stored verdict again. First from the stored samples alone (do the
// published figures follow from them?), then by judging the stored kernel once more (does it happen again?).
#pragma once

#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"
#include "judge/setup.h"
#include "store/eval_report.h"
#include "store/store.h"

namespace kforge {

struct Recheck {
  EvalReport stored;
  EvalReport again;
  bool task_unchanged = true;  // same task files as then
  bool same_machine = true;
  bool figures_follow = true;  // the stored interval is what the stored samples give
  bool same_outcome = false;
  bool times_overlap = false;     // 95 % intervals of the kernel's time; only meaningful on the same machine
  bool speedups_overlap = false;  // and of the speedup, when both are against the same baseline
  bool speedups_comparable = false;

  // The stored verdict stands: the same outcome, figures that follow, speedups that overlap where comparable.
  bool confirmed() const {
    return figures_follow && same_outcome && (!speedups_comparable || speedups_overlap);
  }
};

// The options that a stored result was judged under.
JudgeOptions judge_options_of(const EvalReport& report);

// The stored sources as files again.
Result<void> restore(const StoredCandidate& candidate, const std::filesystem::path& folder);

// `python` as for eval; everything else is taken from the stored result.
Result<Recheck> recheck(std::string_view result_id, const std::string& python, Progress& progress);

}  // namespace kforge
