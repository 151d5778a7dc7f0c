// `kforge tasks check`: is a task able to tell a kernel from a program that does nothing, and can it be
// judged at all?
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "task/task.h"
#include "verify/calibration.h"

namespace kforge {

struct TaskCheck {
  std::string task, shape_set;
  Calibration calibration;
  double oracle_seconds = 0;  // for the slowest input kind, both precisions
  std::string worst_kind;     // that kind
  int kinds_finite = 0;       // input kinds on which fp32 stays finite; the others are skipped by the gates
};

// Runs the oracle on every input kind and the null candidates on the task's own; no candidate is involved.
Result<TaskCheck> check_task(const Task& task, std::string_view shape_set, std::string_view precision);

}  // namespace kforge
