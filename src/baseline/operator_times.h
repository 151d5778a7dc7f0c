// What each operator of a task costs in the baseline `onednn`, which computes them one by one: tells an agent
// where the time goes and what fusing could save. Measured once per task, machine and thread count, outside
// of every timed path, and kept in a cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "base/result.h"
#include "machine/machine.h"
#include "task/task.h"

namespace kforge {

struct OperatorTime {
  std::string node, op;  // "MatMul_1", "MatMul"
  double ns = 0;
};

// In graph order. Empty when the baseline cannot compute the task; an Error is the machinery's.
Result<std::vector<OperatorTime>> operator_times(const BoundTask& task, const Machine& machine, int threads,
                                                 bool cold, const std::filesystem::path& work,
                                                 FileCache& cache);

// Lines of "node TAB operator TAB nanoseconds", as `kforge-onednn --times` prints them; others are skipped.
std::vector<OperatorTime> parse_operator_times(std::string_view text);

}  // namespace kforge
