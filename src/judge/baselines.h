// The baselines of one shape case. Their values are judged too, once per task: a gate that a baseline fails
// is printed with the task, and its time still counts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "baseline/baseline.h"
#include "execute/staged_program.h"
#include "verify/timed_gates.h"
#include "verify/verdict.h"

namespace kforge {

class Workspace;

// The gate a baseline fails, and why.
struct BaselineRefusal {
  std::string baseline;
  Gate gate = Gate::kRun;
  std::string reason;
};

struct CaseBaselines {
  std::vector<Opponent> present;
  std::vector<AbsentBaseline> absent;
  std::vector<BaselineRefusal> refusals;     // of those present
  std::vector<StagedProgram> user_programs;  // staged files of --baseline NAME=FILE
};

// Libraries of Python take seconds to start. A search that needs only a rough idea of what is to be beaten
// does without them; the figure at its end does not.
enum class BaselineScope { kAll, kQuickToStart };

// Those the options name, or every one that is here. `cache` remembers what the gates said; `graph_files` is
// a folder that stays until the baselines are done. An Error when a kernel of --baseline NAME=FILE does not
// compute the task.
Result<CaseBaselines> find_case_baselines(const Workspace& workspace, std::size_t index,
                                          const JudgeContext& context, FileCache& cache,
                                          const std::filesystem::path& graph_files,
                                          BaselineScope scope = BaselineScope::kAll);

}  // namespace kforge
