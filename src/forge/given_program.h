// Programs that a run is given rather than makes: the user's own (--from), and one for another platform that
// the agents may learn from (--reference).
#pragma once

#include <optional>
#include <string>

#include "generate/candidate.h"
#include "judge/workspace.h"
#include "store/runs.h"

namespace kforge {

// A file or folder, or the winner of a run.
Result<Candidate> read_given(const std::string& file_or_run, RunRecords& records, const Platform& platform);

struct Reference {
  Candidate program;
  std::string platform;
};
// "": none. "auto": the best verified program for this task on any other platform, if the store has one.
Result<std::optional<Reference>> find_reference(const std::string& spec, RunRecords& records,
                                                const Workspace& workspace);

}  // namespace kforge
