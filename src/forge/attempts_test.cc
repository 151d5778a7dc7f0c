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
    run.options = "{}";
    ASSERT_TRUE(records_->begin(run));
  }

  static Candidate program(const std::string& text) { return {{{"kernel.cc", text}}, "test"}; }
  static Generation generation(const std::string& text) {
    Generation made;
    made.program = program(text);
    made.change = "wrote " + text;
    made.extraction = "ok";
    return made;
  }
  static VerdictRecord passed(double ns, bool accepted) {
    VerdictRecord verdict;
    verdict.outcome = "passed";
    verdict.time_ns = ns;
    verdict.better = verdict.accepted = accepted;
    return verdict;
  }
  // One attempt through all its steps.
  int make(Attempts& attempts, const Proposal& proposal, const std::string& text,
           const VerdictRecord& verdict, double clock) {
    auto attempt = attempts.plan(proposal);
    EXPECT_TRUE(attempt);
    EXPECT_TRUE(attempts.save_generation(*attempt, generation(text), "scripted", 1));
    EXPECT_TRUE(attempts.save_verdict(*attempt, attempt->program, verdict, "", clock));
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
  EXPECT_EQ(make(first, draft, "one", passed(100, true), 2.5), 1);
  EXPECT_EQ(make(first, better, "two", passed(50, true), 4), 2);
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
  ASSERT_EQ(again.history().trials.size(), 2u);
  EXPECT_EQ(again.history().best()->attempt.number, 2);
  EXPECT_EQ(again.history().find(2)->attempt.program.files.front().content, "two");
  EXPECT_EQ(again.clock(), 4);
  EXPECT_EQ(again.generation(1)->change, "wrote one");
  EXPECT_EQ(again.verdict(1)->time_ns, 100);
  EXPECT_EQ(again.verdict(9), std::nullopt);
  auto next = again.plan(draft);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->number, 4) << "numbers are not used twice";
}

TEST_F(AttemptsTest, ATurnHandedOverStaysSo) {
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
  ASSERT_TRUE(attempts.save_generation(*two, generation("two"), "b", 1));
  ASSERT_TRUE(attempts.save_verdict(*two, two->program, passed(5, true), "", 1));
  ASSERT_TRUE(attempts.save_generation(*one, generation("one"), "a", 1));
  ASSERT_TRUE(attempts.save_verdict(*one, one->program, passed(9, false), "", 2));
  ASSERT_EQ(attempts.history().trials.size(), 2u);
  EXPECT_EQ(attempts.history().trials[0].attempt.number, 1);
  EXPECT_EQ(attempts.history().best()->attempt.number, 2);
}

TEST_F(AttemptsTest, WithoutAProgramTheReasonIsKept) {
  Attempts attempts(*records_, "r");
  auto attempt = attempts.plan({});
  Generation nothing;
  nothing.program = std::unexpected(Failure(NoProgram{"the reply has no fenced block"}));
  nothing.extraction = "no_code";
  ASSERT_TRUE(attempts.save_generation(*attempt, nothing, "scripted", 1));
  EXPECT_FALSE(attempt->program);
  Attempts again(*records_, "r");
  auto pending = again.restore();
  ASSERT_TRUE(pending);
  ASSERT_TRUE(pending->front().generation);
  EXPECT_EQ(pending->front().generation->no_program, "the reply has no fenced block");
  EXPECT_FALSE(pending->front().program);
}

TEST_F(AttemptsTest, TheUsersKernelIsNumberZeroAndAnOverturnedWinnerIsNone) {
  Attempts attempts(*records_, "r");
  auto given = attempts.plan_given(program("mine"));
  ASSERT_TRUE(given);
  EXPECT_EQ(given->number, 0);
  ASSERT_TRUE(attempts.save_verdict(*given, given->program, passed(100, true), "", 1));
  EXPECT_EQ(make(attempts, {}, "theirs", passed(10, true), 2), 1);
  EXPECT_EQ(attempts.history().best()->attempt.number, 1);
  ASSERT_TRUE(attempts.overturn(1, "extreme", "wrong on large inputs"));
  EXPECT_EQ(attempts.history().best()->attempt.number, 0);
  EXPECT_EQ(attempts.history().find(1)->attempt.gate, "extreme") << "the next prompt says why";
  EXPECT_NE(attempts.history().find(1)->attempt.reason.find("wrong on large inputs"), std::string::npos);

  Attempts again(*records_, "r");
  ASSERT_TRUE(again.restore());
  EXPECT_EQ(again.history().best()->attempt.number, 0) << "it is remembered";
  EXPECT_EQ(again.verdict(1)->reason, "did not stand the confirmation: wrong on large inputs");
}

TEST_F(AttemptsTest, ADamagedRecordIsAnErrorThatSaysWhich) {
  ASSERT_TRUE(records_->save_plan("r", 1, "{\"pass\": \"functional\""));
  Attempts attempts(*records_, "r");
  auto pending = attempts.restore();
  ASSERT_FALSE(pending);
  EXPECT_NE(pending.error().message.find("a plan"), std::string::npos);
}

}  // namespace
}  // namespace kforge
