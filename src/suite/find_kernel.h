// The programs for a task in a folder of given kernels (`kforge suite --kernels DIR`).
#pragma once

#include <filesystem>
#include <vector>

#include "suite/suite_tasks.h"

namespace kforge {

// Named by the task: <level>/<task> or <task>, as a folder with kernel.* or a file with any ending;
// runs/<platform> of another suite is such a folder. Also KernelBench's own names,
// level_2_problem_12_sample_0_kernel.*, for a task of level2 whose name begins with 12: all samples, in their
// order. Empty: there is none.
std::vector<std::filesystem::path> find_kernels(const std::filesystem::path& folder, const SuiteTask& task);

}  // namespace kforge
