#include "suite/suite_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/sample_page.h"
#include "suite/sample_records.h"
#include "suite/side_by_side.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

SuitePlan plan_of(const std::vector<SuiteRecord>& records) {
  SuitePlan plan;
  plan.id = "2suite";
  plan.name = "core";
  for (const SuiteRecord& record : records) plan.tasks.push_back({record.task, record.task});
  plan.platforms = {"cpu"};
  plan.variants.resize(1);
  return plan;
}

// Two levels, one failure, one vacuous problem, one whose fastest baseline is another.
std::vector<SuiteRecord> sample_suite() {
  std::vector<SuiteRecord> records = {verified_record("level1/1_a", 2.5, 2.1, 3),
                                      verified_record("level1/2_b", 1.2, 0.9, 1.4),
                                      failed_record("level2/3_c"), verified_record("level2/4_d", 9, 8, 10),
                                      verified_record("level2/5_e", 0.5, 0.4, 0.6, "torch")};
  records[3].flags = {"vacuous"};
  records[4].family = "convolution";
  return records;
}

TEST(SuiteReport, FlaggedProblemsAreInNoFigure) {
  SuiteReport report = suite_report_of(plan_of(sample_suite()), sample_suite());
  ASSERT_EQ(report.parts.size(), 1u);
  const Score& score = report.parts.front().score;
  EXPECT_EQ(score.problems, 4);
  EXPECT_EQ(score.correct, 3);
  EXPECT_EQ(score.fast[1].by_point, 2);
  EXPECT_EQ(score.fast[1].by_interval, 1);
  EXPECT_EQ(score.fast[3].by_point, 1);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.seconds, 50);
}

TEST(SuiteReport, GroupsByBaselineLevelAndFamily) {
  const SuitePart part = suite_report_of(plan_of(sample_suite()), sample_suite()).parts.front();
  ASSERT_EQ(part.by_baseline.size(), 3u);
  EXPECT_EQ(part.by_baseline[0].name, kFastestPresent);
  EXPECT_EQ(part.by_baseline[1].name, "onednn");
  EXPECT_EQ(part.by_baseline[1].score.compared, 3);  // the failure counts, the one without onednn does not
  EXPECT_EQ(part.by_baseline[2].name, "torch");
  EXPECT_EQ(part.by_baseline[2].score.compared, 2);
  ASSERT_EQ(part.by_level.size(), 2u);
  EXPECT_EQ(part.by_level[1].name, "level2");
  EXPECT_EQ(part.by_level[1].score.problems, 2);
  EXPECT_EQ(part.by_level[1].score.correct, 1);
  ASSERT_EQ(part.by_family.size(), 2u);
  EXPECT_EQ(part.by_family[0].name, "convolution");
}

TEST(SuiteReport, IsReadableEverywhere) {
  SuiteReport report = suite_report_of(plan_of(sample_suite()), sample_suite());
  std::string screen = to_terminal(report, {});
  for (const char* text : {"fast_1.5", "50 % [25 %]", "vacuous", "y is off", "convolution", "5 of 5 done"})
    EXPECT_THAT(screen, HasSubstr(text));
  EXPECT_THAT(screen, Not(HasSubstr("unfinished")));
  std::string markdown = to_markdown(report);
  EXPECT_THAT(markdown, HasSubstr("| level1 | 2 | 100 % | 100 % [50 %] |"));
  EXPECT_THAT(markdown, HasSubstr("| level2/5_e | convolution | verified |"));
  json document = json::parse(to_json(report), nullptr, false);
  EXPECT_EQ(document["schema"], "kforge.suite/1");
  EXPECT_EQ(document["parts"][0]["score"]["fast"][1]["problems_by_interval"], 1);
  EXPECT_EQ(document["parts"][0]["flagged"][0]["task"], "level2/4_d");
  EXPECT_EQ(document["parts"][0]["tasks"].size(), 5u);
}

TEST(SuiteReport, CsvHasALineForEveryTaskAndBaseline) {
  std::vector<SuiteRecord> records = sample_suite();
  records[2].reason = "said \"no\", twice";
  records[0].baselines.push_back({"torch", 3e6, Speedup{{3, 2, 4}, "torch"}});
  const std::string csv = to_csv(suite_report_of(plan_of(records), records));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6);
  EXPECT_THAT(csv, HasSubstr("\"said \"\"no\"\", twice\""));
  EXPECT_THAT(csv, HasSubstr("level1/1_a,level1,matmul,cpu,,verified,passed,,1000000,2.5,2.1,3,onednn,"));
}

TEST(SuiteReport, AsAPageIsDrawnAndToldApart) {
  std::string page = *to_html(suite_report_of(plan_of(sample_suite()), sample_suite()));
  EXPECT_EQ(page_fault(page), "");
  std::size_t at = 0;
  for (const char* next : {"3 of 4 problems verified", "50 % [25 %]", "fast_p", "by the whole 95 % interval",
                           "level1/1_a: 2.50x [2.10, 3.00]", "level1", "convolution", "flagged", "vacuous",
                           "without a verified program", "y is off", "Every task", "level2/5_e"}) {
    at = page.find(next, at);
    ASSERT_NE(at, page.npos) << "not there, or not in its place: " << next;
  }
  EXPECT_THAT(page, Not(HasSubstr("level2/4_d: 9.00x"))) << "a flagged problem is in no drawing";
}

TEST(SuiteReport, HostileNamesStayTextAndPagesStaySmall) {
  const std::string hostile = "a/<script>alert(1)</script>\"'&{{policy}}";
  std::vector<SuiteRecord> records;
  for (int i = 0; i < 3000; ++i) {
    records.push_back(i % 3 ? verified_record(hostile + std::to_string(i), 2, 1.5, 3, hostile)
                            : failed_record(hostile + std::to_string(i)));
    records.back().family = records.back().run = hostile;
    records.back().reason = std::string(1000, '"');
    if (i % 5 == 0) records.back().flags = {"vacuous"};
  }
  SuitePlan plan = plan_of(records);
  plan.name = plan.id = plan.kernels = hostile;
  plan.arguments = {hostile};
  std::string page = *to_html(suite_report_of(plan, records));
  EXPECT_EQ(page_fault(page), "");
  EXPECT_LT(page.size(), 2'000'000u);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("more are left out"));
}

TEST(SuiteReport, OfNothingYetIsAReportToo) {
  SuiteReport report = suite_report_of(plan_of(sample_suite()), {});
  EXPECT_FALSE(report.complete());
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("kforge suite --resume 2suite"));
  EXPECT_FALSE(to_markdown(report).empty());
  EXPECT_EQ(page_fault(*to_html(report)), "");
}

TEST(SideBySide, IsOnTheSameProblemsOnly) {
  std::vector<SuiteRecord> a = sample_suite(), b = sample_suite();
  b.erase(b.begin() + 1);  // not finished there
  b[0].speedup = b[0].baselines[0].speedup = Speedup{{1.5, 1.4, 1.6}, "onednn"};
  b[1] = verified_record("level2/3_c", 1.1, 0.9, 1.3);  // found there alone
  auto both = compare_suites(suite_report_of(plan_of(a), a), suite_report_of(plan_of(a), b));
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->sides[0].records.size(), 3u);
  EXPECT_EQ(both->left_out, 2u);  // the one that is unfinished, and the vacuous one
  EXPECT_EQ(both->rows[0].scores[0].correct, 2);
  EXPECT_EQ(both->rows[0].scores[1].correct, 3);
  auto differ = differences(*both);
  ASSERT_EQ(differ.size(), 2u);
  EXPECT_EQ(differ[0].task, "level1/1_a");
  EXPECT_TRUE(differ[0].a_better);
  EXPECT_EQ(differ[1].task, "level2/3_c");
  EXPECT_FALSE(differ[1].a_better);
  EXPECT_THAT(to_terminal(*both, {}), HasSubstr("B is better"));
  json document = json::parse(to_json(*both), nullptr, false);
  EXPECT_EQ(document["problems"], 3);
  EXPECT_EQ(document["differences"][0]["better"], "a");
}

TEST(SideBySide, NothingInCommonIsAnError) {
  std::vector<SuiteRecord> a = {verified_record("x/1", 1, 1, 1)}, b = {verified_record("x/2", 1, 1, 1)};
  auto both = compare_suites(suite_report_of(plan_of(a), a), suite_report_of(plan_of(b), b));
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("no finished task in common"));
}

TEST(SideBySide, AnAblationShowsEveryVariant) {
  std::vector<SuiteRecord> records = {verified_record("x/1", 2, 1.9, 2.1),
                                      verified_record("x/1", 1.2, 1.1, 1.3)};
  records[1].variant = "without example";
  SuitePlan plan = plan_of({records[0]});
  plan.variants.push_back({"without example", {"--without", "example"}});
  SuiteReport report = suite_report_of(plan, records);
  EXPECT_EQ(report.parts.size(), 2u);
  auto sides = ablation_sides(report);
  ASSERT_EQ(sides.size(), 1u);
  EXPECT_EQ(sides[0].rows[0].scores[0].fast[2].by_point, 1);
  EXPECT_EQ(sides[0].rows[0].scores[1].fast[2].by_point, 0);
  std::string screen = to_terminal(report, {});
  EXPECT_THAT(screen, HasSubstr("with everything"));
  EXPECT_THAT(screen, HasSubstr("ablation, on 1 problems"));
}

}  // namespace
}  // namespace kforge
