// Races and the search of tunables, on a task so small that a program a thousand times slower is slower on
// any machine.
#include "judge/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "judge/program.h"
#include "judge/small_workspace.h"
#include "judge/tune.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class RaceTest : public SmallWorkspace {
 protected:
  static Candidate program(const std::string& repeats, const std::string& zero = "0.0f",
                           const std::string& head = "") {
    return {{{"kernel.cc", head +
                               "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
                               "  for (long again = 0; again < " +
                               repeats +
                               "; ++again) {\n    asm volatile(\"\" ::: \"memory\");\n"
                               "    for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < " +
                               zero + " ? 0.0f : x[i];\n  }\n}\n"}},
            "test"};
  }
  RaceResult challenge(Race& race, const Candidate& candidate) {
    auto built = build_program(*workspace_, candidate, workspace_->setup().bound(0));
    EXPECT_TRUE(built && built->has_value());
    auto result = race.challenge(**built);
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return result ? *result : RaceResult{};
  }
};

TEST_F(RaceTest, ARoughIdeaOfTheBaselinesStartsNoInterpreter) {
  JudgeOptions options = workspace_->setup().options;
  options.baselines.clear();  // every one that is here
  auto workspace = Workspace::open(options, progress_);
  ASSERT_TRUE(workspace) << workspace.error().text();
  auto measured = measure_baselines(**workspace, 0, BaselineScope::kQuickToStart);
  ASSERT_TRUE(measured) << measured.error().text();
  ASSERT_EQ(measured->size(), 1u);
  EXPECT_EQ(measured->front().name, "onednn");
  EXPECT_GT(measured->front().ns.value, 0);
  EXPECT_EQ((*workspace)->fastest(0), "") << "nobody knows it yet";
}

TEST_F(RaceTest, TheFasterProgramBecomesTheIncumbent) {
  Race race(*workspace_, 0);
  RaceResult slow = challenge(race, program("20000"));
  EXPECT_FALSE(slow.failure);
  EXPECT_FALSE(slow.ratio) << "there was nobody to race against";
  race.promote();
  RaceResult quick = challenge(race, program("1"));
  ASSERT_TRUE(quick.ratio);
  EXPECT_GT(quick.ratio->lo, 1);
  race.promote();
  race.pause();  // the incumbent is started again for the next one
  RaceResult again = challenge(race, program("20001"));
  ASSERT_TRUE(again.ratio);
  EXPECT_LT(again.ratio->hi, 1);
}

// From three rounds an interval can be written down that leaves out 1, and means nothing.
TEST(RaceInterval, HoldsFromSixRoundsOrEightDisturbedOnes) {
  EXPECT_FALSE(interval_holds({.rounds = 3, .disturbed = 0}));
  EXPECT_FALSE(interval_holds({.rounds = 5, .disturbed = 0}));
  EXPECT_TRUE(interval_holds({.rounds = 6, .disturbed = 0}));
  EXPECT_FALSE(interval_holds({.rounds = 7, .disturbed = 7}));
  EXPECT_TRUE(interval_holds({.rounds = 8, .disturbed = 8}));
  EXPECT_TRUE(interval_holds({.rounds = 15, .disturbed = 9}));
}

TEST_F(RaceTest, WrongAndCrashingProgramsFailAndLeaveTheIncumbent) {
  Race race(*workspace_, 0);
  challenge(race, program("1"));
  race.promote();
  RaceResult wrong = challenge(race, program("1", "0.5f"));
  ASSERT_TRUE(wrong.failure);
  EXPECT_EQ(outcome_name(*wrong.failure), "wrong_value");
  Candidate crashing = program("1");
  crashing.files[0].content.replace(crashing.files[0].content.find("asm volatile(\"\" ::: \"memory\");"), 30,
                                    "*(volatile int*)8 = 1;");
  auto built = build_program(*workspace_, crashing, workspace_->setup().bound(0));
  ASSERT_TRUE(built && built->has_value());
  auto crash = race.challenge(**built);
  ASSERT_TRUE(crash) << crash.error().text();
  ASSERT_TRUE(crash->failure);
  EXPECT_EQ(outcome_name(*crash->failure), "crash");
  locate_crash(workspace_->setup(), *crash->failure, crashing, **built, workspace_->setup().bound(0));
  EXPECT_THAT(reason_text(*crash->failure), HasSubstr("in kernel (kernel.cc:4)"));
  RaceResult after = challenge(race, program("20000"));
  ASSERT_TRUE(after.ratio) << "the incumbent is still there";
  EXPECT_LT(after.ratio->hi, 1);
}

// Both write to the same memory, so that where it lies favours neither.
TEST_F(RaceTest, AnAnswerOfTheIncumbentIsNotThereForTheChallenger) {
  Race race(*workspace_, 0);
  challenge(race, program("20000"));
  race.promote();
  Candidate copying = program("20000");
  std::string& source = copying.files[0].content;
  const std::string loop = "  for (long again";
  source.replace(source.find(loop), loop.size(), "  if (y[0] == y[0]) return;\n" + loop);
  RaceResult result = challenge(race, copying);
  ASSERT_TRUE(result.ratio);
  EXPECT_LT(result.ratio->lo, 1.5) << "it found the answer in some rounds, and computed nothing";
}

TEST_F(RaceTest, AFailingFirstChallengerLeavesNothingBehind) {
  Race race(*workspace_, 0);
  EXPECT_TRUE(challenge(race, program("1", "0.5f")).failure);
  RaceResult next = challenge(race, program("1"));
  EXPECT_FALSE(next.failure);
  EXPECT_FALSE(next.ratio);
}

TEST_F(RaceTest, AStopEndsACallAtOnce) {
  Race race(*workspace_, 0);
  std::stop_source stop;
  stop.request_stop();
  workspace_->stop_on(stop.get_token());
  auto built = build_program(*workspace_, program("1"), workspace_->setup().bound(0));
  ASSERT_TRUE(built && built->has_value());
  EXPECT_FALSE(race.challenge(**built));
  workspace_->stop_on({});
  Race another(*workspace_, 0);
  EXPECT_FALSE(challenge(another, program("1")).failure);
}

TEST_F(RaceTest, TunablesAreSearchedOnceAndRemembered) {
  TempDir folder = TempDir::create().value();
  auto records = RunRecords::open(folder.path()).value();
  Candidate candidate = program("REPEAT", "0.0f", "// kforge: tune REPEAT=20000,1\n");
  auto tuned = tune(*workspace_, *records, candidate, 60);
  ASSERT_TRUE(tuned) << tuned.error().text();
  ASSERT_TRUE(tuned->best) << tuned->table;
  EXPECT_FALSE(tuned->from_store);
  EXPECT_THAT(tuned->table, HasSubstr("best: REPEAT=1\n"));
  EXPECT_THAT(tuned->best->files[0].content, HasSubstr("#define REPEAT 1\n"));
  auto again = tune(*workspace_, *records, candidate, 60);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->from_store);
  EXPECT_EQ(again->best->content_hash(), tuned->best->content_hash());
}

TEST_F(RaceTest, TunablesThatNeverWorkAreTheCandidatesFailure) {
  TempDir folder = TempDir::create().value();
  auto records = RunRecords::open(folder.path()).value();
  auto wrong = tune(*workspace_, *records, program("REPEAT", "0.5f", "// kforge: tune REPEAT=1,2\n"), 60);
  ASSERT_TRUE(wrong) << wrong.error().text();
  EXPECT_FALSE(wrong->best);
  ASSERT_TRUE(wrong->failure);
  EXPECT_EQ(outcome_name(*wrong->failure), "wrong_value");
  EXPECT_THAT(wrong->table, HasSubstr("REPEAT=2"));
  auto none = tune(*workspace_, *records, program("R", "0.0f", "// kforge: tune R=1,2 where R>5\n"), 60);
  ASSERT_TRUE(none);
  ASSERT_TRUE(none->failure);
  EXPECT_THAT(reason_text(*none->failure), HasSubstr("no values meet"));
}

}  // namespace
}  // namespace kforge
