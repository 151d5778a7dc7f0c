#include "generate/tried.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "generate/sample_attempt.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TriedTest : public testing::Test {
 protected:
  Attempt& add(double gain, double lo, double hi) {
    Attempt& a = attempts_.emplace_back();
    a.number = static_cast<int>(attempts_.size()) - 1;
    a.proposal.parent = a.proposal.rival = a.number == 0 ? -1 : 0;
    set_source(a, "int x;\n");
    a.generation->change = "change " + std::to_string(a.number) + ".";
    judged(a, Outcome::kPassed);
    if (a.number > 0) set_gain(a, gain, lo, hi);
    a.decision->accepted = lo > 1 || a.number == 0;
    plan_.history.push_back(&a);
    if (a.accepted()) plan_.best = &a;
    return a;
  }
  std::deque<Attempt> attempts_;
  Plan plan_;
};

TEST_F(TriedTest, ANearMissStaysInTheTableHoweverOldItIs) {
  add(1, 1, 1);
  add(1.05, 0.98, 1.12);
  for (int i = 0; i < 60; ++i) add(0.8, 0.7, 0.9);
  std::string table = history_table(plan_, 10);
  EXPECT_THAT(table,
              HasSubstr("| 1 | 0 | change 1. |  | correct, 1.05x its parent [0.98, 1.12], not kept: the "
                        "interval holds 1, so it may be noise |"));
  EXPECT_THAT(table, AllOf(HasSubstr("change 0."), HasSubstr("change 61."), Not(HasSubstr("change 20."))));
  EXPECT_THAT(table, HasSubstr("there are 62 in all"));
}

TEST_F(TriedTest, OfManyNearMissesTheNearestStay) {
  add(1, 1, 1);
  for (int i = 1; i <= 40; ++i) add(1 + 0.001 * i, 0.9, 1.2);
  for (int i = 0; i < 10; ++i) add(0.8, 0.7, 0.9);
  std::string table = history_table(plan_, 10);
  EXPECT_THAT(table, AllOf(HasSubstr("change 40."), HasSubstr("change 35."), Not(HasSubstr("change 34."))));
}

TEST_F(TriedTest, TheFactorNamesWhatItIsOver) {
  add(1, 1, 1);
  Attempt& repaired = add(1.2, 0.9, 1.4);
  repaired.proposal.parent = 7;
  EXPECT_THAT(result_text(repaired), HasSubstr("1.2x attempt 0 [0.9, 1.4]"));
}

TEST_F(TriedTest, OverturnedAndRacedAttemptsKeepTheirFigures) {
  add(1, 1, 1);
  Attempt& overturned = add(1.3, 1.2, 1.4);
  overturned.decision->accepted = false;
  judged(overturned, Outcome::kOverturned).gate = Gate::kExtreme;
  overturned.judgement->reason = "did not stand the confirmation: 3 elements differ\nmore";
  EXPECT_EQ(
      result_text(overturned),
      "overturned (extreme), 1.3x its parent [1.2, 1.4]: did not stand the confirmation: 3 elements differ");
  Attempt& raced = add(1.01, 0.97, 1.05);
  judged(raced, Outcome::kSlower);
  EXPECT_EQ(
      result_text(raced),
      "not surely faster, 1.01x its parent [0.97, 1.05], not kept: the interval holds 1, so it may be noise");
}

TEST_F(TriedTest, TheRunnerUpIsTheBestRatioOverThePresentBest) {
  add(1, 1, 1);
  EXPECT_EQ(runner_up(plan_), nullptr);
  add(1.02, 0.97, 1.08);
  EXPECT_EQ(runner_up(plan_), nullptr) << "nothing came after it";
  add(1.06, 0.99, 1.11);
  EXPECT_EQ(runner_up(plan_), nullptr) << "what came after the nearest is not there yet";
  Attempt& broken = add(0, 0, 0);
  judged(broken, Outcome::kCompileError).over_rival.reset();
  ASSERT_NE(runner_up(plan_), nullptr);
  EXPECT_EQ(runner_up(plan_)->number, 2);
  plan_.last = runner_up(plan_);
  EXPECT_EQ(runner_up(plan_), nullptr) << "it is shown as the last one";
  plan_.last = nullptr;
  // A new best makes old ratios worthless.
  add(1.5, 1.4, 1.6);
  EXPECT_EQ(runner_up(plan_), nullptr);
}

TEST_F(TriedTest, WhatWasOverturnedOrNotCheckedIsNotOffered) {
  add(1, 1, 1);
  Attempt& overturned = add(1.3, 1.2, 1.4);
  overturned.decision->accepted = false;
  judged(overturned, Outcome::kOverturned);
  judged(add(1.1, 0.9, 1.2), Outcome::kSlower);
  add(0.8, 0.7, 0.9);
  plan_.best = plan_.history[0];
  EXPECT_EQ(runner_up(plan_), nullptr);
}

// A gain is never booked to advice that was not followed.
TEST_F(TriedTest, APromiseIsShownOnlyWhereItWasFollowed) {
  add(1, 1, 1);
  Attempt& followed = add(1.2, 1.1, 1.3);
  set_advice(followed, {.expected_gain = 1.5, .tag = "unroll"});
  Attempt& other = add(1.3, 1.2, 1.4);
  set_advice(other, {.expected_gain = 7.5, .tag = "unroll"}, false);
  std::string table = history_table(plan_, 10);
  EXPECT_THAT(table, HasSubstr("| 1.5x | correct, 1.2x"));
  EXPECT_THAT(table, Not(HasSubstr("7.5x")));
  EXPECT_THAT(table, HasSubstr("| advice not followed | correct, 1.3x"));
  followed.advice->roofline_limit = 1.2;
  EXPECT_THAT(history_table(plan_, 10), HasSubstr("| 1.5x (the roofline left 1.2x) | correct, 1.2x"));
}

TEST_F(TriedTest, WhatBeatsItsParentButNotTheBestIsCalledThat) {
  Attempt a;
  a.number = 5;
  a.proposal.parent = a.proposal.rival = 3;
  judged(a, Outcome::kPassed);
  a.judgement->over_rival = Speedup{1.3, 1.2, 1.4, "attempt 3"};
  a.judgement->over_best = Speedup{0.9, 0.8, 1.02, "attempt 4"};
  a.decision->better = true;
  std::string text = result_text(a);
  EXPECT_THAT(text, HasSubstr("1.3x its parent [1.2, 1.4]"));
  EXPECT_THAT(text, HasSubstr("0.9x attempt 4, the best then, [0.8, 1.02]"));
  EXPECT_THAT(text, HasSubstr("faster than what it was made from, but not than the best"));
}

TEST_F(TriedTest, TheBaselinesTimeIsFromTheSameRounds) {
  Attempt a;
  judged(a, Outcome::kPassed).time_ns = 8e5;
  a.judgement->speedup = Speedup{1.31, 1.2, 1.4, "onednn"};
  EXPECT_THAT(result_text(a), HasSubstr("800 us, 1.31x the fastest baseline [1.2, 1.4]"));
  a.judgement->baseline_ns = 1.06e6;
  EXPECT_THAT(result_text(a), HasSubstr("800 us (onednn 1060 us in the same rounds), 1.31x that [1.2, 1.4]"));
}

TEST_F(TriedTest, OnlyOneIsTheBestSoFar) {
  Attempt first, second;
  first.number = 1, second.number = 2;
  for (Attempt* attempt : {&first, &second}) {
    judged(*attempt, Outcome::kPassed);
    attempt->decision->accepted = true;
  }
  EXPECT_THAT(result_text(first, &second), Not(HasSubstr("the best so far")));
  EXPECT_THAT(result_text(second, &second), HasSubstr("the best so far"));
}

}  // namespace
}  // namespace kforge
