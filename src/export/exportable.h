// A stored result that may leave KForge: verified, for a processor, and for the task as it is now.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "forge/check_files.h"
#include "generate/candidate.h"
#include "judge/setup.h"
#include "platform/platform.h"
#include "store/eval_report.h"
#include "store/store.h"

namespace kforge {

struct Exportable {
  EvalReport report;
  std::string run;  // that it is the best of; empty: a result was named
  Candidate program;
  std::unique_ptr<const JudgeSetup> setup;
  std::size_t shape_case = 0;
  JudgedLine line;
  std::vector<std::string> needs;  // instruction sets, as platform.toml calls them

  const BoundTask& task() const { return setup->bound(shape_case); }
  bool prepared() const { return report.setup.has_value(); }
};

// `id` is a result or a run, by its id, a prefix that fits only one, or "last". `shape_case` counts from 1;
// 0: the only one. What cannot be exported is an Error that says why.
Result<Exportable> find_exportable(const std::string& id, int shape_case);

// What code beside the kernel needs of its flags: the OpenMP that it is linked with.
std::vector<std::string> runtime_options(const JudgedLine& line);

// What a user of the kernel must know beyond "verified", one sentence each.
std::vector<std::string> caveats_of(const EvalReport& report);

}  // namespace kforge
