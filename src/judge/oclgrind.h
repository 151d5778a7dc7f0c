// OpenCL programs once more, on a simulator that looks at every access, where it is installed: races,
// accesses out of bounds and barriers that do not meet, with the lines of the source. Gates "races", "bounds"
// and "barriers".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generate/candidate.h"
#include "judge/stopwatch.h"
#include "judge/workspace.h"
#include "verify/verdict.h"

namespace kforge {

// What oclgrind complained of: each kind and place once, at most 32.
struct OclgrindFinding {
  Gate gate = Gate::kRaces;
  std::string sentence;  // "read-write data race at local memory in f, kernel.cl:5 and kernel.cl:4"
};
std::vector<OclgrindFinding> parse_oclgrind(std::string_view log);

// REQUIRES: a platform with driver opencl that is timed. Leaves a record of each of the three gates.
Result<void> judge_by_oclgrind(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                               Stopwatch& watch, Verdict& verdict);

}  // namespace kforge
