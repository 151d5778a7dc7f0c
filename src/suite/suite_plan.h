// What a suite goes through, as its file suite.json keeps it: a suite that is resumed is the one that was
// asked for, whatever has become of the folder of tasks since.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "suite/ablation.h"
#include "suite/suite_tasks.h"

namespace kforge {

struct SuitePlan {
  std::string id, created_at;
  std::string name;  // "core", or the folder
  std::vector<SuiteTask> tasks;
  std::vector<std::string> platforms;
  std::vector<SuiteVariant> variants;  // at least one
  std::vector<std::string> arguments;  // of `kforge forge` (or `eval`) for every task
  std::string kernels;                 // --kernels: judge these, write none
  std::string working_folder;          // paths among the arguments are from there
  double limit_seconds = 0;            // a task that takes longer is given up

  // Of what it goes through: the same command asks for the same.
  std::string key() const;
  std::size_t items() const { return tasks.size() * platforms.size() * variants.size(); }
};

// One piece of work.
struct SuiteItem {
  SuiteTask task;
  std::string platform;
  SuiteVariant variant;

  // "cpu/level2/12_gemm", "cpu without example/core/softmax": names its files.
  std::string path() const;
};
// Task by task: all platforms and variants of one before the next, so that a suite that is cut short can be
// compared.
std::vector<SuiteItem> items_of(const SuitePlan& plan);

std::string to_json(const SuitePlan& plan);
Result<SuitePlan> suite_plan_from_json(std::string_view text);

}  // namespace kforge
