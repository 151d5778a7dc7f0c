#include "judge/fill_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kforge {
namespace {

using testing::HasSubstr;

TimedFindings findings(double ns, double rival_ns) {
  TimedFindings f;
  f.ns = {ns, 0.9 * ns, 1.1 * ns};
  f.samples = {ns};
  double ratio = rival_ns / ns;
  f.rivals = {{"onednn", "oneDNN", {rival_ns, rival_ns, rival_ns}, {ratio, ratio, ratio}, {rival_ns}}};
  f.rounds = 1;
  return f;
}

EvalReport with_cases(std::vector<double> weights) {
  EvalReport report;
  for (double weight : weights) report.cases.push_back({{{"N", 1}}, weight, std::nullopt, std::nullopt});
  return report;
}

TEST(FillReport, OneCase) {
  EvalReport report = with_cases({1});
  fill_times(findings(100, 250), report);
  fill_summary(Task{}, report);
  EXPECT_EQ(report.outcome, "passed");
  ASSERT_TRUE(report.time_ns && report.speedup);
  EXPECT_DOUBLE_EQ(report.time_ns->median, 100);
  EXPECT_NEAR(report.speedup->value, 2.5, 1e-12);
  EXPECT_EQ(report.speedup->against, "onednn");
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("only the embedded baseline")));
}

// Times are weighted means, speedups weighted geometric means: a case driven to zero time cannot buy the
// headline.
TEST(FillReport, WeightedCases) {
  EvalReport report = with_cases({3, 1});
  fill_times(findings(100, 100), report);
  fill_times(findings(200, 3200), report);
  fill_summary(Task{}, report);
  EXPECT_DOUBLE_EQ(report.time_ns->median, (3 * 100 + 200) / 4.0);
  EXPECT_NEAR(report.speedup->value, 2, 1e-9);
}

TEST(FillReport, AFailureHasNoTimes) {
  EvalReport report = with_cases({1});
  Verdict verdict;
  verdict.pass("symbols", "fine");
  verdict.fail(WrongValue{"accuracy", "37 of 64 elements are wrong", "{\"wrong\":37}"});
  fill_times(findings(100, 250), report);
  fill_verdict(verdict, report);
  fill_summary(Task{}, report);
  EXPECT_EQ(report.outcome, "wrong_value");
  EXPECT_EQ(report.gate, "accuracy");
  EXPECT_FALSE(report.time_ns);
  EXPECT_TRUE(report.baselines.empty());
  EXPECT_EQ(report.gates.size(), 2u);
  EXPECT_FALSE(report.advice.empty());
}

TEST(FillReport, TheStoredRecordCarriesTheDocumentAndItsEvidence) {
  EvalReport report = with_cases({1});
  fill_times(findings(100, 250), report);
  report.seeds = {{"check", 42}};
  fill_summary(Task{}, report);
  StoredResult stored = to_stored(report);
  EXPECT_EQ(stored.outcome, "passed");
  EXPECT_EQ(stored.against, "onednn");
  EXPECT_EQ(stored.samples.size(), 2u);
  EXPECT_EQ(stored.seeds.size(), 1u);
  EXPECT_THAT(stored.document, HasSubstr("\"samples\""));
}

}  // namespace
}  // namespace kforge
