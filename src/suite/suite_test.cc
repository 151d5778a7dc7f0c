// The loop over tasks, with tasks that cost nothing.
#include "suite/suite.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "suite/sample_records.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class Lines final : public RunView {
 public:
  void stage(std::string_view) override {}
  void advance(double, std::string_view) override {}
  void finish() override {}
  void line(std::string_view text) override {
    std::lock_guard lock(mutex);
    lines.emplace_back(text);
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

class SuiteLoop : public testing::Test {
 protected:
  SuiteLoop() {
    ::setenv("KFORGE_HOME", dir_.path().c_str(), 1);
    SuitePlan plan;
    for (char name : std::string("abcdef")) plan.tasks.push_back({std::string("x/") + name, ""});
    plan.platforms = {"cpu"};
    plan.variants.resize(1);
    folder_.emplace(SuiteFolder::create(plan, "").value());
  }
  ~SuiteLoop() override { ::unsetenv("KFORGE_HOME"); }

  SuiteHost host(int jobs = 1) {
    return {.view = &view_,
            .stop = stop_.get_token(),
            .jobs = jobs,
            .run = [this](const SuiteItem& item, const std::stop_token&) {
              ++begun_;
              return one(item);
            }};
  }
  // Overridden by what a test wants of a task.
  std::function<Result<std::optional<SuiteRecord>>(const SuiteItem&)> one = [](const SuiteItem& item) {
    return std::optional(verified_record(item.task.name, 1.5, 1.2, 1.8));
  };

  TempDir dir_ = TempDir::create().value();
  std::optional<SuiteFolder> folder_;
  Lines view_;
  std::stop_source stop_;
  std::atomic<int> begun_ = 0;
};

TEST_F(SuiteLoop, DoesEveryTaskOnceAndSaysEachAsItEnds) {
  EXPECT_TRUE(*run_suite(*folder_, host()));
  EXPECT_EQ(begun_, 6);
  EXPECT_EQ(folder_->records().size(), 6u);
  ASSERT_EQ(view_.lines.size(), 6u);
  EXPECT_EQ(view_.lines[1], "2/6  x/b  cpu  verified  1.50x [1.20, 1.80] over onednn  10 s");
  EXPECT_TRUE(*run_suite(*folder_, host()));  // nothing is left
  EXPECT_EQ(begun_, 6);
}

TEST_F(SuiteLoop, SeveralJobsDoEveryTaskOnce) {
  EXPECT_TRUE(*run_suite(*folder_, host(4)));
  EXPECT_EQ(begun_, 6);
  EXPECT_EQ(folder_->records().size(), 6u);
}

TEST_F(SuiteLoop, ABrokenTaskStopsNobody) {
  one = [](const SuiteItem& item) {
    SuiteRecord record = failed_record(item.task.name);
    if (item.task.name == "x/c") record.state = TaskState::kError;
    return std::optional(record);
  };
  EXPECT_TRUE(*run_suite(*folder_, host()));
  EXPECT_EQ(folder_->records().size(), 6u);
  EXPECT_THAT(view_.lines[2], HasSubstr("error"));
  EXPECT_THAT(view_.lines[3], HasSubstr("not verified  wrong_value (accuracy)  y is off"));
}

TEST_F(SuiteLoop, WhatWasInterruptedIsDoneWhenItGoesOn) {
  one = [this](const SuiteItem& item) -> Result<std::optional<SuiteRecord>> {
    if (item.task.name != "x/c") return verified_record(item.task.name, 1, 1, 1);
    stop_.request_stop();
    return std::nullopt;
  };
  EXPECT_FALSE(*run_suite(*folder_, host()));
  EXPECT_EQ(folder_->records().size(), 2u);
  EXPECT_EQ(begun_, 3);
  stop_ = {};
  one = [](const SuiteItem& item) { return std::optional(verified_record(item.task.name, 1, 1, 1)); };
  EXPECT_TRUE(*run_suite(*folder_, host()));
  EXPECT_EQ(begun_, 3 + 4);
  EXPECT_THAT(view_.lines[2], HasSubstr("goes on: 2 of 6 are done"));
}

// The store or the disk, not the task: there is no point in going on.
TEST_F(SuiteLoop, AFailureOfTheMachineryEndsItWithWhatThereIs) {
  one = [](const SuiteItem& item) -> Result<std::optional<SuiteRecord>> {
    if (item.task.name == "x/b") return fail("the disk is full");
    return verified_record(item.task.name, 1, 1, 1);
  };
  auto done = run_suite(*folder_, host());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the disk is full");
  EXPECT_EQ(folder_->records().size(), 1u);
}

TEST(Duration, IsReadable) {
  EXPECT_EQ(readable_duration(7.4), "7 s");
  EXPECT_EQ(readable_duration(200), "3 min 20 s");
  EXPECT_EQ(readable_duration(7260), "2 h 01 min");
}

}  // namespace
}  // namespace kforge
