// What the fault tests share: a home of their own, quick evaluations, and a way to hit a process at a chosen
// moment.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "adversarial/kernel_case.h"
#include "adversarial/leftovers.h"
#include "base/files.h"
#include "judge/evaluate.h"
#include "store/eval_report.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace kforge {

inline const fs::path kHonest = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "honest";

// A home that many tests use: its precompiled header costs seconds to make.
inline fs::path shared_home() {
  fs::path folder = fs::path(KFORGE_BINARY_DIR) / "adversarial_home";
  fs::create_directories(folder);
  return folder;
}

inline EvalOptions check_of(const std::string& task, const fs::path& kernel) {
  EvalOptions options;
  options.task = task;
  options.kernel = kernel;
  options.shape_set = "small";
  options.baselines = {"none"};
  options.check_only = true;
  options.call_limit_seconds = 5;
  return options;
}

inline Result<EvalReport> evaluate_quietly(const EvalOptions& options) {
  SilentProgress progress;
  return evaluate(options, progress);
}

// The home in this state judges an honest kernel right.
inline void expect_works() {
  auto report = evaluate_quietly(check_of("core/relu", kHonest / "relu_loops.cc"));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kPassed) << report->reason;
}

// The store opens, SQLite finds nothing wrong, and every result in it can be read back.
inline void expect_whole_store(const fs::path& home) {
  auto store = Store::open(home);
  ASSERT_TRUE(store) << store.error().text();
  auto database = Database::open(home / "store.db");
  ASSERT_TRUE(database) << database.error().text();
  auto check = database->prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check && *check->step());
  EXPECT_EQ(check->text(0), "ok");
  auto documents = database->prepare("SELECT document FROM result");
  ASSERT_TRUE(documents) << documents.error().text();
  for (;;) {
    auto row = documents->step();
    ASSERT_TRUE(row) << row.error().text();
    if (!*row) break;
    auto report = eval_report_from_json(documents->text(0));
    EXPECT_TRUE(report) << report.error().text();
  }
}

// Kills the first descendant of this process whose command is `command` (after it has lived a moment), from a
// thread of its own. Says how many it killed.
class Assassin {
 public:
  explicit Assassin(std::string command, std::chrono::milliseconds patience = std::chrono::milliseconds(30))
      : thread_([this, command = std::move(command), patience] {
          while (!ended_ && killed_ == 0) {
            auto is_victim = [&](const FoundProcess& process) { return process.command == command; };
            if (std::ranges::any_of(descendants(), is_victim)) {
              std::this_thread::sleep_for(patience);
              // All of them: a candidate may have a second process that waits for its turn.
              for (const FoundProcess& process : descendants())
                if (is_victim(process) && ::kill(process.pid, SIGKILL) == 0) ++killed_;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  ~Assassin() { killed(); }
  int killed() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return killed_;
  }

 private:
  std::atomic<bool> ended_ = false;
  std::atomic<int> killed_ = 0;
  std::thread thread_;
};

}  // namespace kforge
