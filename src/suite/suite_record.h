// What a suite keeps of a finished task: one file each, made from the report of `forge` or `eval`, whose
// whole document stays in the store under the ids named here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.h"
#include "base/result.h"
#include "suite/fast_p.h"

namespace kforge {

enum class TaskState : std::uint8_t {
  kVerified,  // there is a program, and it passed every gate
  kFailed,    // there is none: `outcome` and `reason` say what became of the last one
  kError,     // the task could not be worked on: `reason` says why
};
std::string_view name_of(TaskState state);  // "verified", "failed", "error"
std::optional<TaskState> task_state_from_name(std::string_view name);

struct BaselineRatio {
  std::string name;
  double ns = 0;
  std::optional<Speedup> speedup;  // of the program over it
};

struct SuiteRecord {
  std::string task, level, family, platform;
  std::string variant;  // "without example"; empty: everything as asked
  TaskState state = TaskState::kError;
  std::string outcome, gate, reason, remedy;
  std::string run, result, kernel;  // ids in the store; the program's file
  std::optional<double> time_ns;
  std::optional<double> modelled_ns;
  std::optional<Speedup> speedup;  // over the fastest baseline present
  std::vector<BaselineRatio> baselines;
  std::vector<std::string> flags;
  bool busy = false;  // something else used the machine while it was timed
  int threads = 0;
  int attempts = 0;                      // programs that were written or, with --kernels, given: samples
  std::optional<int> attempts_verified;  // of given ones
  std::int64_t tokens = 0;
  std::optional<double> dollars;
  double seconds = 0;  // all of it
  double prepare_seconds = 0, search_seconds = 0, confirm_seconds = 0;
  std::string finished_at;

  bool verified() const { return state == TaskState::kVerified; }
  // The problem says nothing about a kernel: told apart in every table. Empty: it does.
  std::string flagged() const;
  // Which of two answers to one task stands for it: verified before failed, then the faster one.
  bool better_than(const SuiteRecord& other) const;
  // Against a baseline by name, or the fastest that was there ("").
  Scored scored(std::string_view baseline) const;
};

std::string to_json(const SuiteRecord& record);
Result<SuiteRecord> suite_record_from_json(std::string_view text);

// From what a child printed: a kforge.forge/1, kforge.eval/1 or kforge.error/1 document. An Error: it is
// none.
Result<SuiteRecord> record_of_report(std::string_view document);

}  // namespace kforge
