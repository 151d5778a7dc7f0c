// How far a run of another process is: counts from the store, and what it says of itself.
#include "store/run_progress.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "generate/sample_attempt.h"
#include "store/live_status.h"
#include "store/runs.h"

namespace kforge {
namespace {

class RunProgressTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  std::unique_ptr<RunRecords> records_ = *RunRecords::open(folder_.path());
  ProgressReader reader_ = *ProgressReader::open(folder_.path());

  void SetUp() override {
    StoredRun run;
    run.id = "r";
    run.created_at = utc_now();
    ASSERT_TRUE(records_->begin(run));
  }
};

TEST_F(RunProgressTest, FollowsTheStagesOfAttempts) {
  EXPECT_EQ(*reader_.run("r"), RunProgress{});
  ASSERT_TRUE(records_->save_setting("r", {}));
  EXPECT_TRUE(reader_.run("r")->prepared);
  Attempt attempt{.number = 1};
  ASSERT_TRUE(records_->save_proposal("r", attempt));
  EXPECT_EQ(reader_.run("r")->current, 1);
  EXPECT_FALSE(reader_.run("r")->written);
  set_source(attempt, "int x;");
  ASSERT_TRUE(records_->save_generation("r", attempt));
  EXPECT_TRUE(reader_.run("r")->written);
  attempt.judgement = AttemptJudgement{};
  attempt.judgement->clock = 7.5;
  attempt.decision = Decision{};
  ASSERT_TRUE(records_->save_judgement("r", attempt));
  const RunProgress judged = *reader_.run("r");
  EXPECT_EQ(judged.planned, 1);
  EXPECT_EQ(judged.judged, 1);
  EXPECT_EQ(judged.current, std::nullopt);
  EXPECT_EQ(judged.clock, 7.5);
}

TEST_F(RunProgressTest, AddsUpWhatModelsCost) {
  for (int i = 1; i <= 2; ++i) {
    StoredCall call;
    call.key = {"generator", i, 0};
    call.model = "m";
    call.take = *records_->begin_call("r", call.key, call.model, "a prompt");
    call.state = CallState::kReceived;
    call.input_tokens = 100;
    call.output_tokens = 10;
    if (i == 1) call.dollars = 0.25;
    ASSERT_TRUE(records_->end_call("r", call));
  }
  const RunProgress progress = *reader_.run("r");
  EXPECT_EQ(progress.calls, 2);
  EXPECT_EQ(progress.tokens, 220);
  EXPECT_EQ(progress.dollars, 0.25);
  const auto models = *reader_.models();
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].calls, 2);
  EXPECT_EQ(models[0].runs, 1);
  EXPECT_EQ(models[0].input_tokens, 200);
}

TEST_F(RunProgressTest, WhatARunSaysOfItselfIsGoneWithIt) {
  EXPECT_FALSE(live_status(folder_.path(), "r"));
  fs::create_directories(folder_.path() / "locks");
  {
    LiveStatusFile file(folder_.path(), "r");
    file.tell({.stage = "timing", .searching = true, .clock = 3}, true);
    file.tell({.stage = "timing", .detail = "too soon"}, false);
    auto status = live_status(folder_.path(), "r");
    ASSERT_TRUE(status);
    EXPECT_EQ(status->stage, "timing");
    EXPECT_EQ(status->detail, "") << "how far it is, is told now and then only";
    EXPECT_TRUE(status->searching);
    EXPECT_EQ(status->clock, 3);
    file.tell({.stage = "next \xff"}, true);
    EXPECT_EQ(live_status(folder_.path(), "r")->searching, false);
  }
  EXPECT_FALSE(live_status(folder_.path(), "r"));
  ASSERT_TRUE(write_file_atomic(folder_.path() / "locks/run-r.status", "[1, nonsense"));
  EXPECT_FALSE(live_status(folder_.path(), "r"));
}

}  // namespace
}  // namespace kforge
