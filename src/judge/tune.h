// Searches the values of a candidate's tunables: each assignment is built and raced against the best so far.
// What was found for a program, task and machine is kept in the store.
#pragma once

#include <optional>
#include <string>

#include "generate/tunables.h"
#include "judge/workspace.h"
#include "store/runs.h"

namespace kforge {

struct Tuning {
  std::optional<Candidate> best;   // with the best values filled in; nothing: no values make it run
  std::optional<Failure> failure;  // the tune line is wrong, or no assignment works: what the agent is told
  std::string table;               // values tried and their times, for the analyst and the report
  bool from_store = false;
};

Result<Tuning> tune(Workspace& workspace, RunRecords& records, const Candidate& candidate, double seconds);

}  // namespace kforge
