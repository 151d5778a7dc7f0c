#include "suite/suite_record.h"

#include <gmock/gmock.h>

#include "report/run_report.h"
#include "store/sample_report.h"
#include "suite/sample_records.h"

namespace kforge {
namespace {

using testing::HasSubstr;

TEST(SuiteRecord, ReadsBackWhatWasWritten) {
  SuiteRecord record = verified_record("level2/12_gemm", 1.4, 1.1, 1.6);
  record.flags = {"algebraic"};
  record.dollars = 0.25;
  auto again = suite_record_from_json(to_json(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(record));
  EXPECT_TRUE(again->verified());
  EXPECT_EQ(again->baselines.front().speedup->lo, 1.1);
}

TEST(SuiteRecord, ADamagedOneIsAnError) {
  EXPECT_FALSE(suite_record_from_json("{}"));
  EXPECT_FALSE(suite_record_from_json("half a fi"));
}

TEST(SuiteRecord, ComesFromAnEvaluation) {
  EvalReport report = passed_report();
  auto record = record_of_report(to_json(report));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->verified(), report.passed());
  EXPECT_EQ(record->result, report.result_id);
  EXPECT_EQ(record->baselines.size(), report.baselines.size());
}

TEST(SuiteRecord, ComesFromARun) {
  RunReport run;
  run.id = "2abc";
  run.best = passed_report();
  run.seconds = {{"prepare", 3}, {"search", 5}, {"confirm", 7}};
  run.attempts.resize(2);
  auto record = record_of_report(to_json(run));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->run, "2abc");
  EXPECT_EQ(record->attempts, 2);
  EXPECT_EQ(record->confirm_seconds, 7);
  EXPECT_EQ(record->speedup->value, run.best->speedup->value);
}

TEST(SuiteRecord, ARunThatVerifiedNothingSaysWhatBecameOfTheLastProgram) {
  RunReport run;
  run.id = "2abc";
  run.attempts.resize(2);
  run.attempts[0].judgement.emplace().outcome = Outcome::kWrongValue;
  run.attempts[0].judgement->gate = Gate::kAccuracy;
  run.attempts[0].judgement->reason = "y is off";
  auto record = record_of_report(to_json(run));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->state, TaskState::kFailed);
  EXPECT_EQ(record->outcome, "wrong_value");
  EXPECT_EQ(record->reason, "y is off");
}

TEST(SuiteRecord, ComesFromAnError) {
  auto record = record_of_report(R"({"schema": "kforge.error/1", "error": "no graph", "remedy": "add one"})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, TaskState::kError);
  EXPECT_EQ(record->reason, "no graph");
  EXPECT_EQ(record->remedy, "add one");
}

TEST(SuiteRecord, ComesFromNothingElse) {
  for (const char* text :
       {"", "Segmentation fault", "{}", R"({"schema": "kforge.runs/1"})", R"({"schema": 3})"})
    EXPECT_FALSE(record_of_report(text)) << text;
}

TEST(SuiteRecord, IsScoredAgainstABaselineOnlyWhereItWasThere) {
  SuiteRecord record = verified_record("a/b", 1.4, 1.1, 1.6);
  EXPECT_EQ(record.scored("").speedup->value, 1.4);
  EXPECT_EQ(record.scored("onednn").speedup->value, 1.4);
  EXPECT_TRUE(record.scored("torch").correct);
  EXPECT_FALSE(record.scored("torch").speedup);
  EXPECT_FALSE(failed_record("a/b").scored("onednn").correct);
}

TEST(SuiteRecord, FlagsOfTheProblemAreToldFromThoseOfTheProgram) {
  SuiteRecord record = verified_record("a/b", 1, 1, 1);
  record.flags = {"bitwise_repeatable", "algebraic"};
  EXPECT_EQ(record.flagged(), "");
  record.flags.push_back("vacuous");
  EXPECT_EQ(record.flagged(), "vacuous");
}

}  // namespace
}  // namespace kforge
