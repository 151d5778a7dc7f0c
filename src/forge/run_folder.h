// What a run leaves for its user: the kernel, the header it includes, and the reports.
#pragma once

#include <filesystem>
#include <string>

#include "generate/candidate.h"
#include "report/run_report.h"
#include "task/task.h"

namespace kforge {

// `out`, or kforge-<task>-<run> in the current folder; absolute. Not created yet.
Result<std::filesystem::path> run_folder(const std::filesystem::path& out, const Task& task,
                                         const std::string& run);
// Name of the main file in it.
std::string kernel_file(const Candidate& program);
Result<void> write_run_folder(const std::filesystem::path& folder, const Candidate& program,
                              const BoundTask& task, const RunReport& report);

}  // namespace kforge
