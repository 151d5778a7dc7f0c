#include "forge/attempts.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace kforge {
namespace {

class AttemptsTest : public testing::Test {
 protected:
  void SetUp() override {
    StoredRun run;
    run.id = "r";
    run.created_at = "2026-01-01T00:00:00Z";
    run.task = "core/relu";
    ASSERT_TRUE(records_->begin(run));
  }

  static Candidate program(const std::string& text) { return {{{"kernel.cc", text}}, "test"}; }
  static Generation generation(const std::string& text) {
    Generation made;
    made.program = program(text);
    made.change = "wrote " + text;
    made.status = ReplyStatus::kOk;
    return made;
  }
  static void pass(Attempt& attempt, double ns, bool accepted, double clock) {
    attempt.judgement = AttemptJudgement{.outcome = Outcome::kPassed, .time_ns = ns, .clock = clock};
    attempt.decision = Decision{.better = accepted, .accepted = accepted};
  }
  // One attempt through all its steps.
  int make(Attempts& attempts, const Proposal& proposal, const std::string& text, double ns, double clock) {
    auto attempt = attempts.plan(proposal);
    EXPECT_TRUE(attempt);
    EXPECT_TRUE(attempts.save_generation(*attempt, generation(text)));
    pass(*attempt, ns, true, clock);
    EXPECT_TRUE(attempts.save_judgement(*attempt));
    return attempt->number;
  }

  TempDir folder_ = TempDir::create().value();
  std::unique_ptr<RunRecords> records_ = RunRecords::open(folder_.path()).value();
};

TEST_F(AttemptsTest, ComeBackFromTheStoreAsTheyWere) {
  Attempts first(*records_, "r");
  Proposal draft, better;
  better.pass = Pass::kOptimization;
  better.parent = better.rival = 1;
  EXPECT_EQ(make(first, draft, "one", 100, 2.5), 1);
  EXPECT_EQ(make(first, better, "two", 50, 4), 2);
  auto under_way = first.plan(better);
  ASSERT_TRUE(under_way);
  Advice advice{.change = "tile it", .expected_gain = 2, .tag = "tile", .by = "rules"};
  ASSERT_TRUE(first.save_advice(*under_way, advice));

  Attempts again(*records_, "r");
  auto pending = again.restore();
  ASSERT_TRUE(pending) << pending.error().text();
  ASSERT_EQ(pending->size(), 1u);
  EXPECT_EQ(pending->front().number, 3);
  EXPECT_EQ(pending->front().proposal.parent, 1);
  ASSERT_TRUE(pending->front().advice);
  EXPECT_EQ(pending->front().advice->change, "tile it");
  EXPECT_FALSE(pending->front().generation);
  ASSERT_EQ(again.history().attempts.size(), 2u);
  EXPECT_EQ(again.history().best()->number, 2);
  EXPECT_EQ(again.history().find(2)->program()->files.front().content, "two");
  EXPECT_EQ(again.clock(), 4);
  EXPECT_EQ(again.history().find(1)->change(), "wrote one");
  EXPECT_EQ(again.history().find(1)->judgement->time_ns, 100);
  EXPECT_EQ(again.history().find(9), nullptr);
  auto next = again.plan(draft);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->number, 4) << "numbers are not used twice";
}

TEST_F(AttemptsTest, AnAttemptHandedOverStaysSo) {
  Attempts first(*records_, "r");
  Proposal proposal;
  proposal.generator = 1;
  auto attempt = first.plan(proposal);
  ASSERT_TRUE(attempt);
  ASSERT_TRUE(first.hand_over(*attempt, 2));
  EXPECT_EQ(attempt->proposal.generator, 2);
  Attempts again(*records_, "r");
  auto pending = again.restore();
  ASSERT_TRUE(pending);
  EXPECT_EQ(pending->front().proposal.generator, 2);
}

TEST_F(AttemptsTest, JudgedOutOfOrderTheyStandInOrder) {
  Attempts attempts(*records_, "r");
  auto one = attempts.plan({}), two = attempts.plan({});
  ASSERT_TRUE(attempts.save_generation(*two, generation("two")));
  pass(*two, 5, true, 1);
  ASSERT_TRUE(attempts.save_judgement(*two));
  ASSERT_TRUE(attempts.save_generation(*one, generation("one")));
  pass(*one, 9, false, 2);
  ASSERT_TRUE(attempts.save_judgement(*one));
  ASSERT_EQ(attempts.history().attempts.size(), 2u);
  EXPECT_EQ(attempts.history().attempts[0].number, 1);
  EXPECT_EQ(attempts.history().best()->number, 2);
}

TEST_F(AttemptsTest, TheUsersKernelIsNumberZeroAndAnOverturnedWinnerIsNone) {
  Attempts attempts(*records_, "r");
  auto given = attempts.plan_given(program("mine"));
  ASSERT_TRUE(given);
  EXPECT_EQ(given->number, 0);
  pass(*given, 100, true, 1);
  ASSERT_TRUE(attempts.save_judgement(*given));
  EXPECT_EQ(make(attempts, {}, "theirs", 10, 2), 1);
  EXPECT_EQ(attempts.history().best()->number, 1);
  ASSERT_TRUE(attempts.overturn(1, Gate::kExtreme, "wrong on large inputs"));
  EXPECT_EQ(attempts.history().best()->number, 0);
  const AttemptJudgement& overturned = *attempts.history().find(1)->judgement;
  EXPECT_EQ(overturned.gate, Gate::kExtreme) << "the next prompt says why";
  EXPECT_NE(overturned.reason.find("wrong on large inputs"), std::string::npos);

  Attempts again(*records_, "r");
  ASSERT_TRUE(again.restore());
  EXPECT_EQ(again.history().best()->number, 0) << "it is remembered";
  EXPECT_EQ(again.history().find(1)->judgement->reason,
            "did not stand the confirmation: wrong on large inputs");
}

}  // namespace
}  // namespace kforge
