// `kforge suite`: every task of a suite through `forge` (or given kernels through `eval`), one record each,
// and at the end the figures of all. A suite that was killed at any moment goes on where it was; a broken
// task stops nobody.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "report/run_report.h"
#include "suite/suite_folder.h"

namespace kforge {

struct SuiteHost {
  RunView* view = nullptr;  // REQUIRED: a line for each task as it ends, and how far it is
  std::stop_token stop;     // the tasks under way are asked to stop, and no other is begun
  int jobs = 1;             // tasks at once, each on its share of the processors
  // One task; nothing: it was interrupted. Called by `jobs` threads.
  std::function<Result<std::optional<SuiteRecord>>(const SuiteItem&, const std::stop_token&)> run;
};

// Works on what has no record yet. An Error is the machinery's (a full disk), never a task's: what is
// finished stays. False: it was interrupted.
Result<bool> run_suite(const SuiteFolder& folder, const SuiteHost& host);

// "  12/200  level2/12_gemm  verified  1.41x [1.10, 1.55] over onnxruntime  21 s"
std::string task_line(const SuiteRecord& record, std::size_t number, std::size_t of, const Paint& paint);
// "3 min 20 s"
std::string readable_duration(double seconds);

}  // namespace kforge
