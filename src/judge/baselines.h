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
struct JudgeSetup;

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

// The libraries that the options name, or every one that is here. `graph_files` is a folder that stays until
// the baselines are done.
Result<Baselines> find_libraries(const JudgeSetup& setup, std::size_t index,
                                 const std::filesystem::path& graph_files, BaselineScope scope);

// Processes of a library that takes seconds to start: as many as a judging needs, in the background. `what`
// names its version.
void start_ahead(const JudgeSetup& setup, std::size_t index, const FileCache& cache, const std::string& what,
                 ProgramSpec& spec);

// `libraries`, files that the options name, and what the platform has besides: those whose time counts.
// `cache` remembers what the gates said. An Error when a kernel of --baseline NAME=FILE does not compute the
// task.
Result<CaseBaselines> find_case_baselines(const Workspace& workspace, const JudgeContext& context,
                                          FileCache& cache, Baselines libraries,
                                          BaselineScope scope = BaselineScope::kAll);

}  // namespace kforge
