#include "store/named_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/sample_attempt.h"
#include "store/sample_report.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class NamedProgramTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  Store store_ = *Store::open(folder_.path());
  std::unique_ptr<RunRecords> records_ = *RunRecords::open(folder_.path());
  const Candidate program_{{{"kernel.cc", "int a;"}}, "file kernel.cc"};

  void SetUp() override {
    ASSERT_TRUE(store_.save_candidate({program_.content_hash(), program_.origin, program_.files}));
    for (const char* id : {"00000000res1", "00000000res2"}) save_result(id);
    StoredRun run;
    run.id = "00000000run1";
    run.created_at = utc_now();
    run.task = "core/relu";
    ASSERT_TRUE(records_->begin(run));
    attempt(1, "int first;", Outcome::kWrongValue, {});
    attempt(2, "int second;", Outcome::kPassed, {true, true});
    ASSERT_TRUE(records_->save_proposal(run.id, Attempt{.number = 3}));
  }
  void save_result(const std::string& id) {
    EvalReport report = passed_report();
    report.result_id = id;
    StoredResult result;
    result.id = id;
    result.created_at = report.created_at;
    result.candidate = program_.content_hash();
    result.task = report.task;
    result.document = to_json(report, true);
    ASSERT_TRUE(store_.save_result(result));
  }
  void attempt(int number, const std::string& source, Outcome outcome, Decision decision) {
    Attempt attempt{.number = number};
    ASSERT_TRUE(records_->save_proposal("00000000run1", attempt));
    set_source(attempt, source);
    ASSERT_TRUE(records_->save_generation("00000000run1", attempt));
    judged(attempt, outcome).gate =
        outcome == Outcome::kPassed ? std::nullopt : std::optional(Gate::kAccuracy);
    attempt.decision = decision;
    ASSERT_TRUE(records_->save_judgement("00000000run1", attempt));
  }
  Result<NamedProgram> named(const std::string& which) { return named_program(store_, *records_, which); }
};

TEST_F(NamedProgramTest, AHashStandsForTheNewestResultOfTheKernel) {
  auto found = named(program_.content_hash());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->name, program_.content_hash());
  EXPECT_EQ(found->result, "00000000res2");
  EXPECT_EQ(found->outcome(), "passed");
  EXPECT_EQ(found->program.files[0].content, "int a;");
  EXPECT_EQ(named("00000000res1")->result, "00000000res1");
  EXPECT_EQ(named("last")->result, "00000000res2");
  EXPECT_FALSE(named(std::string(64, 'a')));
}

TEST_F(NamedProgramTest, AKernelThatWasNeverJudgedHasItsSourceOnly) {
  const Candidate other{{{"kernel.cc", "int b;"}}, "file other.cc"};
  ASSERT_TRUE(store_.save_candidate({other.content_hash(), other.origin, other.files}));
  auto found = named(other.content_hash());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_FALSE(found->report);
  EXPECT_EQ(found->outcome(), "");
  EXPECT_EQ(found->kernel(), "file other.cc");
}

TEST_F(NamedProgramTest, AttemptsAreNamedByTheirRunAndNumber) {
  auto found = named("00000000run1:1");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->outcome(), "wrong_value");
  EXPECT_EQ(found->gate(), "accuracy");
  EXPECT_EQ(found->task(), "core/relu");
  EXPECT_EQ(found->program.files[0].content, "int first;");
  EXPECT_THAT(named("00000000run1:3").error().message, HasSubstr("has no program yet"));
  EXPECT_THAT(named("00000000run1:9").error().message, HasSubstr("has no attempt 9"));
}

TEST_F(NamedProgramTest, ARunInProgressStandsForItsBestSoFar) {
  auto found = named("00000000run1");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->name, "00000000run1");
  EXPECT_EQ(found->attempt->number, 2);
}

TEST_F(NamedProgramTest, WhatLooksLikeAnAttemptOrAHash) {
  EXPECT_TRUE(is_attempt_name("2mg4:12"));
  for (const char* wrong : {"", ":", "a:", ":1", "a:-1", "../x:1", "a:1:2", "a:99999999", "--x:1"})
    EXPECT_FALSE(is_attempt_name(wrong)) << wrong;
  EXPECT_TRUE(is_program_hash(std::string(64, '0')));
  EXPECT_FALSE(is_program_hash(std::string(64, 'g')));
  EXPECT_FALSE(is_program_hash(std::string(63, '0')));
}

}  // namespace
}  // namespace kforge
