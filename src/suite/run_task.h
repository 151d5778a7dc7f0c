// One task of a suite, worked on by a process of its own: `kforge forge` or `kforge eval` with --json. A
// process, because a suite must survive whatever one task does: what it leaked is given back when it ends, a
// check that aborts or memory that runs out ends that task alone, and every judgement starts from the same
// state as on the command line. What tasks share (measured peaks, compiled runners, what a Python has,
// expected values) is in files.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "suite/suite_folder.h"

namespace kforge {

class TaskRunner {
 public:
  // `program`: the kforge to start; empty: this one. An Error: the store cannot be read.
  static Result<TaskRunner> create(const SuiteFolder& folder, std::filesystem::path program = {});

  // Nothing: it was interrupted, and goes on when the suite is resumed. An Error is never the task's.
  Result<std::optional<SuiteRecord>> run(const SuiteItem& item, const std::stop_token& stop) const;

 private:
  TaskRunner(const SuiteFolder& folder, std::filesystem::path program)
      : folder_(&folder), program_(std::move(program)) {}
  Result<std::optional<SuiteRecord>> start(const SuiteItem& item, std::vector<std::string> arguments,
                                           const std::stop_token& stop) const;
  Result<std::optional<SuiteRecord>> forge(const SuiteItem& item, const std::stop_token& stop) const;
  Result<std::optional<SuiteRecord>> judge(const SuiteItem& item, const std::stop_token& stop) const;

  const SuiteFolder* folder_;
  std::filesystem::path program_;
  std::map<std::string, std::string> begun_;  // the run that a killed process left, by its folder
};

}  // namespace kforge
