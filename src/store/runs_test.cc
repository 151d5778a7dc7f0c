#include "store/runs.h"

#include <gtest/gtest.h>

#include <thread>

namespace kforge {
namespace {

class RunRecordsTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  std::unique_ptr<RunRecords> records_ = *RunRecords::open(folder_.path());

  StoredRun run(std::string id, std::string task = "core/softmax") {
    StoredRun run;
    run.id = std::move(id);
    run.created_at = utc_now();
    run.task = std::move(task);
    run.platform = "cpu";
    run.generator = "mailbox:x";
    run.options = {{"task", "softmax"}, {"width", 3},   {"seconds", 2.5},
                   {"cold", true},      {"target", {}}, {"without", std::vector<std::string>{"profile"}}};
    run.seed = 0xfedcba9876543210ull;
    return run;
  }
  // As a process that starts after another was killed.
  void reopen() { records_ = *RunRecords::open(folder_.path()); }
};

TEST_F(RunRecordsTest, RunIsFoundByIdPrefixAndAsTheLast) {
  ASSERT_TRUE(records_->begin(run("aaaa1")));
  ASSERT_TRUE(records_->begin(run("aabb2")));
  EXPECT_EQ(records_->run("aaaa")->id, "aaaa1");
  EXPECT_EQ(records_->run("last")->id, "aabb2");
  EXPECT_EQ(records_->run("last")->seed, 0xfedcba9876543210ull);
  EXPECT_FALSE(records_->run("aa")) << "two begin with it";
  EXPECT_FALSE(records_->run("zz"));
  EXPECT_FALSE(records_->run(""));
}

TEST_F(RunRecordsTest, WhatARunIsDoing) {
  StoredRun one = run("r");
  EXPECT_EQ(activity_of(one, true, false), RunActivity::kRunning);
  EXPECT_EQ(activity_of(one, true, true), RunActivity::kWaiting);
  EXPECT_EQ(activity_of(one, false, true), RunActivity::kDead) << "who asked is gone";
  one.ended = Ending::kInterrupted;
  EXPECT_EQ(activity_of(one, false, false), RunActivity::kStopped);
  one.state = RunState::kFinished;
  EXPECT_EQ(activity_of(one, false, false), RunActivity::kFinished);
}

TEST_F(RunRecordsTest, AQuestionWithoutAnAnswerIsWaitedFor) {
  ASSERT_TRUE(records_->begin(run("r")));
  EXPECT_EQ(*records_->waiting_for("r"), std::nullopt);
  StoredCall call;
  call.key = {"generator", 1, 0};
  call.model = "mailbox:x";
  call.take = *records_->begin_call("r", call.key, call.model, "a prompt");
  EXPECT_EQ(*records_->waiting_for("r"), "mailbox:x");
  call.state = CallState::kReceived;
  ASSERT_TRUE(records_->end_call("r", call));
  EXPECT_EQ(*records_->waiting_for("r"), std::nullopt);
}

TEST_F(RunRecordsTest, ExchangesHaveWhatWasAskedAndAnswered) {
  ASSERT_TRUE(records_->begin(run("r")));
  StoredCall call;
  call.key = {"generator", 1, 0};
  call.model = "m";
  call.take = *records_->begin_call("r", call.key, call.model, "the question");
  call.state = CallState::kReceived;
  call.reply = "the answer";
  ASSERT_TRUE(records_->end_call("r", call));
  ASSERT_TRUE(records_->begin_call("r", {"analyst", 2, 0}, "m", "not answered"));
  auto exchanges = *records_->exchanges("r", 9);
  ASSERT_EQ(exchanges.size(), 2u);
  EXPECT_EQ(exchanges[0].prompt, "the question");
  EXPECT_EQ(exchanges[0].call.reply, "the answer");
  EXPECT_EQ(exchanges[1].prompt, "not answered");
  EXPECT_EQ(exchanges[1].call.reply, "");
  fs::remove_all(folder_.path() / "artefacts");
  EXPECT_EQ(records_->exchanges("r", 1)->at(1).prompt, "") << "only the first was wanted";
  EXPECT_EQ(records_->exchanges("r", 1)->at(0).prompt, "[the store has lost this text]");
}

TEST_F(RunRecordsTest, EndOfARunIsWrittenOverItsBeginning) {
  ASSERT_TRUE(records_->begin(run("r")));
  StoredRun end = *records_->run("r");
  EXPECT_EQ(end.state, RunState::kRunning);
  EXPECT_EQ(end.ended, std::nullopt);
  EXPECT_EQ(end.options, run("r").options);
  end.state = RunState::kFinished;
  end.ended = Ending::kTarget;
  end.best = 3;
  end.speedup = 2.5;
  end.against = "onednn";
  end.document = R"({"a":1})";
  ASSERT_TRUE(records_->finish(end));
  reopen();
  StoredRun back = *records_->run("r");
  EXPECT_EQ(back.state, RunState::kFinished);
  EXPECT_EQ(back.best, 3);
  EXPECT_EQ(back.speedup, 2.5);
  EXPECT_EQ(back.ended, Ending::kTarget);
  EXPECT_EQ(back.document, R"({"a":1})");
}

TEST_F(RunRecordsTest, ListsNewestFirstByTaskWithOrWithoutSuite) {
  ASSERT_TRUE(records_->begin(run("r1")));
  ASSERT_TRUE(records_->begin(run("r2", "core/relu")));
  ASSERT_TRUE(records_->begin(run("r3")));
  auto all = *records_->latest("", 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "r3");
  auto softmax = *records_->latest("softmax", 10);
  ASSERT_EQ(softmax.size(), 2u);
  EXPECT_EQ(softmax[1].id, "r1");
}

TEST_F(RunRecordsTest, ReceivedReplyIsFoundAgain) {
  ASSERT_TRUE(records_->begin(run("r")));
  CallKey key{"generator", 1, 0};
  EXPECT_FALSE(*records_->received("r", key));
  EXPECT_EQ(*records_->begin_call("r", key, "m", "a prompt of some length"), 0);
  StoredCall call;
  call.key = key;
  call.model = "m";
  call.state = CallState::kReceived;
  call.reply = "the kernel";
  call.input_tokens = 100;
  call.output_tokens = 20;
  call.dollars = 0.25;
  ASSERT_TRUE(records_->end_call("r", call));
  reopen();
  auto back = *records_->received("r", key);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->reply, "the kernel");
  EXPECT_EQ(back->output_tokens, 20);
  EXPECT_EQ(back->dollars, 0.25);
  EXPECT_FALSE(*records_->received("r", {"generator", 1, 1}));
  EXPECT_FALSE(*records_->received("r", {"analyst", 1, 0}));
}

TEST_F(RunRecordsTest, CallCutByADeathIsLostAndAskedAgainAsANewTake) {
  ASSERT_TRUE(records_->begin(run("r")));
  CallKey key{"generator", 1, 0};
  ASSERT_TRUE(records_->begin_call("r", key, "m", std::string(400, 'x')));
  reopen();
  EXPECT_FALSE(*records_->received("r", key));
  auto calls = *records_->calls("r");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].state, CallState::kLost);
  EXPECT_EQ(calls[0].input_tokens, 100) << "an estimate of what it cost";
  EXPECT_EQ(*records_->begin_call("r", key, "m", "x"), 1);
}

TEST_F(RunRecordsTest, CallsFromManyThreads) {
  ASSERT_TRUE(records_->begin(run("r")));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this, i] {
      CallKey key{"generator", i, 0};
      ASSERT_TRUE(records_->begin_call("r", key, "m", "prompt"));
      StoredCall call;
      call.key = key;
      call.state = CallState::kReceived;
      call.reply = fmt::format("reply {}", i);
      ASSERT_TRUE(records_->end_call("r", call));
    });
  threads.clear();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ((*records_->received("r", {"generator", i, 0}))->reply, fmt::format("reply {}", i));
}

TEST_F(RunRecordsTest, RemembersWhatWonAndWhatWasTuned) {
  EXPECT_FALSE(*records_->winner("gemm/f32", "cpu", "m1", "fp32"));
  ASSERT_TRUE(records_->save_winner("gemm/f32", "cpu", "m1", "fp32", {"[1]", "r", 5}));
  ASSERT_TRUE(records_->save_winner("gemm/f32", "cpu", "m1", "fp32", {"[2]", "s", 4}));
  EXPECT_EQ((*records_->winner("gemm/f32", "cpu", "m1", "fp32"))->schedule, "[2]");
  EXPECT_FALSE(*records_->winner("gemm/f32", "cpu", "m2", "fp32"));
  ASSERT_TRUE(records_->save_tuning("cafe", "k", "m1", "{}"));
  EXPECT_EQ(**records_->tuning("cafe", "k", "m1"), "{}");
  EXPECT_FALSE(*records_->tuning("cafe", "k2", "m1"));
}

}  // namespace
}  // namespace kforge
