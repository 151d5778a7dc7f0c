// Records for tests.
#pragma once

#include "suite/suite_record.h"

namespace kforge {

inline SuiteRecord verified_record(const std::string& task, double speedup, double lo, double hi,
                                   const std::string& against = "onednn") {
  SuiteRecord record;
  record.task = task;
  record.level = task.substr(0, task.find('/'));
  record.family = "matmul";
  record.platform = "cpu";
  record.state = TaskState::kVerified;
  record.outcome = "passed";
  record.time_ns = 1e6;
  record.speedup = Speedup{{speedup, lo, hi}, against};
  record.baselines = {{against, speedup * 1e6, record.speedup}};
  record.seconds = 10;
  return record;
}

inline SuiteRecord failed_record(const std::string& task) {
  SuiteRecord record = verified_record(task, 1, 1, 1);
  record.state = TaskState::kFailed;
  record.outcome = "wrong_value";
  record.gate = "accuracy";
  record.reason = "y is off\nby a lot";
  record.time_ns.reset();
  record.speedup.reset();
  record.baselines.clear();
  return record;
}

}  // namespace kforge
