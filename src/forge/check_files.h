// What makes a run's folder check itself: inputs, expected values, and the tables that the platform's callers
// (platforms/<name>/caller/) read. Not a gate: it tells a user whether the kernel does on his machine, with
// his compiler, what it did when it was judged.
#pragma once

#include <string>
#include <vector>

#include "generate/candidate.h"
#include "platform/platform.h"
#include "store/eval_report.h"
#include "task/task.h"
#include "verify/policy.h"

namespace kforge {

// The compiler's line that was judged, in its parts; without what names files of the sandbox.
struct JudgedLine {
  std::string compiler;
  std::vector<std::string> sources;  // names of the program's files
  std::vector<std::string> options, link;
};
JudgedLine judged_line(const Candidate& program, const BuildFigures& build);

// The header that the judged line includes.
SourceFile prelude_file(const Platform& platform);

// Files below the folder of a run: "check/check.cc", "check/x.in", ... None for a platform that has no
// callers. `threads`: for computing the expected values.
Result<std::vector<SourceFile>> check_files(const BoundTask& task, const Platform& platform,
                                            const PrecisionPolicy& policy, const Candidate& program,
                                            const EvalReport& best, int threads);

}  // namespace kforge
