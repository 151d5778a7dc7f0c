// The records of `kforge forge` runs: plans, programs, verdicts, advice and model calls, each written before
// it is used. A connection of its own with a lock around it, because model calls end on other threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace kforge {

struct StoredRun {
  std::string id, created_at;
  std::string task, task_hash, shape_set, platform, precision, generator, analyst, strategy;
  std::string options;  // JSON
  std::uint64_t seed = 0;
  // Known at the end.
  std::string state = "running";  // or "finished"
  std::string ended;              // why
  std::optional<int> best;        // attempt
  std::string result;             // id of the confirmation
  std::optional<double> speedup;
  std::string against, folder, document;
};

struct StoredAttempt {
  int number = 0;
  std::string plan;                       // JSON
  std::optional<std::string> generation;  // JSON; nothing: the agent has not answered
  std::string candidate;                  // hash; empty: no program came
  std::optional<std::string> verdict;     // JSON; nothing: not judged
  std::string result;                     // id
  double clock = 0;
  std::optional<std::string> advice;  // JSON
};

struct StoredAdvice {
  std::string tag, by, document;
  double expected_gain = 1;
};

// Which call of a run: the key under which a reply is found again.
struct CallKey {
  std::string role;
  int attempt = 0, ordinal = 0;
};

struct StoredCall {
  CallKey key;
  int take = 0;
  std::string model, state;  // "asked", "received", "failed", "lost"
  std::string ended, detail;
  std::string reply;  // text, when received
  std::int64_t input_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0, output_tokens = 0;
  bool estimated = false;
  std::optional<double> dollars;
  double seconds = 0;
  int tries = 1;
};

// A seam for tests of resuming: called after each record is on disk. Empty otherwise.
inline std::function<void()> after_run_record;

class RunRecords {
 public:
  static Result<std::unique_ptr<RunRecords>> open();
  static Result<std::unique_ptr<RunRecords>> open(const std::filesystem::path& folder);

  Result<void> begin(const StoredRun& run);
  // Writes the fields that are known at the end.
  Result<void> finish(const StoredRun& run);
  // By id, by a prefix that fits only one, or "last".
  Result<StoredRun> run(std::string_view id);
  // Newest first.
  Result<std::vector<StoredRun>> latest(std::string_view task, std::size_t limit);

  Result<void> save_plan(std::string_view run, int number, std::string_view plan);
  Result<void> change_plan(std::string_view run, int number, std::string_view plan);
  // The confirmation may see more than the judging that was saved.
  Result<void> change_verdict(std::string_view run, int number, std::string_view verdict);
  // The candidate's files go into the store first.
  Result<void> save_generation(std::string_view run, int number, std::string_view generation,
                               const StoredCandidate* candidate);
  Result<void> save_verdict(std::string_view run, int number, std::string_view verdict,
                            std::string_view result, double clock);
  // In order of their numbers.
  Result<std::vector<StoredAttempt>> attempts(std::string_view run);
  Result<StoredCandidate> candidate(std::string_view hash);

  Result<void> save_advice(std::string_view run, int attempt, const StoredAdvice& advice);
  Result<void> save_gain(std::string_view run, int attempt, double gain);
  Result<void> save_profile(std::string_view run, int attempt, std::string_view document);
  Result<std::optional<std::string>> profile(std::string_view run, int attempt);

  // Writes down that the question was asked before it is: the take to answer under.
  Result<int> begin_call(std::string_view run, const CallKey& key, std::string_view model,
                         std::string_view prompt);
  Result<void> end_call(std::string_view run, const StoredCall& call);
  // The reply received before, or nothing. Takes that were under way when a process died become "lost".
  // With a model's name only its own reply counts.
  Result<std::optional<StoredCall>> received(std::string_view run, const CallKey& key,
                                             std::string_view model = {});
  Result<std::vector<StoredCall>> calls(std::string_view run);

  struct Winner {
    std::string schedule, run;
    double time_ns = 0;
  };
  Result<std::optional<Winner>> winner(std::string_view family, std::string_view platform,
                                       std::string_view machine, std::string_view precision);
  Result<void> save_winner(std::string_view family, std::string_view platform, std::string_view machine,
                           std::string_view precision, const Winner& winner);
  Result<std::optional<std::string>> tuning(std::string_view candidate, std::string_view task_key,
                                            std::string_view machine);
  Result<void> save_tuning(std::string_view candidate, std::string_view task_key, std::string_view machine,
                           std::string_view document);

  // The best verified program for a task on any platform but one: its hash and the platform.
  struct Elsewhere {
    std::string candidate, platform;
  };
  Result<std::optional<Elsewhere>> best_elsewhere(std::string_view task, std::string_view platform);

 private:
  RunRecords(Store store, Database database) : store_(std::move(store)), database_(std::move(database)) {}
  Result<std::string> full_id(std::string_view id);
  static Result<void> written(Result<void> done) {
    if (done && after_run_record) after_run_record();
    return done;
  }

  std::mutex mutex_;
  Store store_;
  Database database_;
};

}  // namespace kforge
