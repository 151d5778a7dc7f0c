// One call of a device program in a process of its own, with variables that make its driver look more
// closely; what it said.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "build/build.h"
#include "generate/candidate.h"
#include "judge/workspace.h"

namespace kforge {

struct Watched {
  std::string said, printed;       // on standard error and standard output
  std::optional<Failure> failure;  // it did not come to its end; what it said until then stays
};

// On the task's own inputs.
Result<Watched> watched_call(Workspace& workspace, const Build& build, const BoundTask& task,
                             const JudgeContext& context,
                             const std::map<std::string, std::string>& variables);

// The shapes to look at: the small ones where the program claims any, else those asked for; nothing where
// they are too large to be looked at closely.
Result<std::optional<BoundTask>> watched_shapes(const JudgeSetup& setup, const Candidate& candidate,
                                                const BoundTask& asked);

}  // namespace kforge
