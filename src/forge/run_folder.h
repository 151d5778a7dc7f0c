// What a run leaves for its user: the kernel, the header it includes, callers that check it, and the reports.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generate/candidate.h"
#include "platform/platform.h"
#include "report/run_evidence.h"
#include "report/run_report.h"
#include "task/task.h"
#include "verify/policy.h"

namespace kforge {

// `out`, or kforge-<task>-<run> in the current folder; absolute. Not created yet.
Result<std::filesystem::path> run_folder(const std::filesystem::path& out, const Task& task,
                                         const std::string& run);
// Name of the main file in it.
std::string kernel_file(const Candidate& program);

// Whether a run may write its files there, before it begins. An Error: something is in the way that it did
// not write, or the place cannot be written.
Result<void> check_run_folder(const std::filesystem::path& folder, const Platform& platform);

struct RunFolderContent {
  const Candidate& program;
  const BoundTask& task;
  const Platform& platform;
  const PrecisionPolicy& policy;
  const RunEvidence& evidence;
  int threads = 1;
  bool with_check = true;  // callers and what they compare with: costs one evaluation of the task
};
// Overwrites what this run wrote before and nothing else. `report` is written too; its has_check is set.
Result<void> write_run_folder(const std::filesystem::path& folder, const RunFolderContent& content,
                              RunReport& report);

// The folder of a run that was deleted, or another one: written anew from the store.
Result<RunReport> write_run_again(std::string_view run, const std::filesystem::path& out);

}  // namespace kforge
