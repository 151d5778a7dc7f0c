#include "judge/report_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/save.h"

namespace kforge {
namespace {

using testing::HasSubstr;

TimedFindings findings(double ns, double baseline_ns) {
  TimedFindings f;
  f.ns = {ns, 0.9 * ns, 1.1 * ns};
  f.samples = {ns};
  double ratio = baseline_ns / ns;
  f.opponents = {
      {"onednn", "oneDNN", {baseline_ns, baseline_ns, baseline_ns}, {ratio, ratio, ratio}, {baseline_ns}}};
  f.rounds = 1;
  return f;
}

CaseJudgement timed_case(double weight, double ns, double baseline_ns) {
  CaseJudgement found;
  found.shape = ShapeCase{{{"N", 1}}, weight};
  found.times = findings(ns, baseline_ns);
  return found;
}

EvalReport report_on(const Judgement& judgement, const JudgeRequest& request = {}) {
  return report_of(JudgeSetup{}, Candidate{}, request, judgement);
}

TEST(ReportOf, OneCase) {
  EvalReport report = report_on({{timed_case(1, 100, 250)}, {}});
  EXPECT_EQ(report.outcome, Outcome::kPassed);
  ASSERT_TRUE(report.time_ns && report.speedup);
  EXPECT_DOUBLE_EQ(report.time_ns->value, 100);
  EXPECT_NEAR(report.speedup->value, 2.5, 1e-12);
  EXPECT_EQ(report.speedup->against, "onednn");
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("only the embedded baseline")));
}

// Times are weighted means, speedups weighted geometric means: a case driven to zero time cannot buy the
// headline.
TEST(ReportOf, WeightedCases) {
  EvalReport report = report_on({{timed_case(3, 100, 100), timed_case(1, 200, 3200)}, {}});
  EXPECT_DOUBLE_EQ(report.time_ns->value, (3 * 100 + 200) / 4.0);
  EXPECT_NEAR(report.speedup->value, 2, 1e-9);
  ASSERT_EQ(report.baselines.size(), 1u);
  EXPECT_DOUBLE_EQ(report.baselines[0].time_ns.value, (3 * 100 + 3200) / 4.0);
  EXPECT_NEAR(report.baselines[0].speedup->value, 2, 1e-9) << "over all cases, not the last one alone";
}

// A baseline that was there in one case only has the mean of that case, not of a part of it.
TEST(ReportOf, ABaselineOfOneCaseHasItsOwnMean) {
  CaseJudgement alone = timed_case(1, 100, 250);
  alone.times->opponents.push_back({"torch", "torch", {400, 400, 400}, {4, 4, 4}, {400}});
  EvalReport report = report_on({{alone, timed_case(1, 100, 250)}, {}});
  ASSERT_EQ(report.baselines.size(), 2u);
  EXPECT_DOUBLE_EQ(report.baselines[1].time_ns.value, 400);
}

TEST(ReportOf, AFailureHasNoTimes) {
  CaseJudgement failed;
  failed.shape = ShapeCase{{{"N", 2}}, 1};
  failed.verdict.pass(Gate::kSymbols, "fine");
  failed.verdict.fail(
      WrongValue{Gate::kAccuracy, "37 of 64 elements are wrong", ComparedOutput{.wrong = 37}});
  EvalReport report = report_on({{timed_case(1, 100, 250), failed}, {}});
  EXPECT_EQ(report.outcome, Outcome::kWrongValue);
  EXPECT_EQ(report.gate, Gate::kAccuracy);
  EXPECT_EQ(report.evidence, Evidence(ComparedOutput{.wrong = 37}));
  EXPECT_FALSE(report.time_ns);
  EXPECT_FALSE(report.speedup);
  EXPECT_TRUE(report.baselines.empty());
  EXPECT_EQ(report.gates.size(), 2u);
  EXPECT_FALSE(report.advice.empty());
}

TEST(ReportOf, WithoutAProgramThereIsOnlyTheFailure) {
  Judgement judgement;
  judgement.cases.emplace_back().verdict.fail(NoProgram{"the file is empty"});
  EvalReport report = report_of(JudgeSetup{}, std::unexpected(NoProgram{"the file is empty"}), {}, judgement);
  EXPECT_EQ(report.outcome, Outcome::kNoProgram);
  EXPECT_EQ(report.gate, std::nullopt);
  EXPECT_TRUE(report.cases.empty());
  ASSERT_EQ(report.gates.size(), 1u);
  EXPECT_EQ(report.gates[0].gate, Gate::kRun);
}

TEST(ReportOf, ABaselineThatFailsAGateSaysWhich) {
  CaseJudgement found = timed_case(1, 100, 250);
  found.baseline_refusals = {{"onednn", Gate::kExtreme, "2 of 64 elements"}};
  EvalReport report = report_on({{found, found}, {}});
  ASSERT_EQ(report.baselines.size(), 1u);
  EXPECT_EQ(report.baselines[0].failed_gates, std::vector{Gate::kExtreme});
  EXPECT_THAT(report.notes,
              testing::Contains("baseline onednn fails a gate on this task: extreme: 2 of 64 elements"));
}

TEST(ReportOf, OverIncumbentsIsAGeometricMean) {
  CaseJudgement one = timed_case(3, 100, 250), two = timed_case(1, 100, 250);
  one.incumbents = {{"incumbent 1", "", {}, {1, 1, 1}, {}}};
  two.incumbents = {{"incumbent 1", "", {}, {16, 16, 16}, {}}};
  Judgement judgement{{one, two}, {}};
  ASSERT_EQ(judgement.over_incumbents().size(), 1u);
  EXPECT_NEAR(judgement.over_incumbents()[0].value, 2, 1e-9);
  judgement.cases.back().verdict.fail(Crash{"SIGSEGV", ""});
  EXPECT_TRUE(judgement.over_incumbents().empty());
}

TEST(ReportOf, TheStoredRecordCarriesTheDocumentAndItsEvidence) {
  CaseJudgement found = timed_case(1, 100, 250);
  found.seeds = {{"check", 42}};
  StoredResult stored = to_stored(report_on({{found}, {}}));
  EXPECT_EQ(stored.outcome, "passed");
  EXPECT_EQ(stored.against, "onednn");
  EXPECT_EQ(stored.samples.size(), 2u);
  EXPECT_EQ(stored.seeds.size(), 1u);
  EXPECT_THAT(stored.document, HasSubstr("\"samples\""));
}

}  // namespace
}  // namespace kforge
