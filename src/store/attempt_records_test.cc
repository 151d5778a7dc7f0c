#include <gtest/gtest.h>

#include "base/files.h"
#include "generate/sample_attempt.h"
#include "profile/profile.h"
#include "store/runs.h"

namespace kforge {
namespace {

class AttemptRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    StoredRun run;
    run.id = "r";
    run.created_at = utc_now();
    ASSERT_TRUE(records_->begin(run));
  }
  // As a process that starts after another was killed.
  Attempt again(int number = 1) {
    records_ = *RunRecords::open(folder_.path());
    auto attempts = records_->attempts("r");
    EXPECT_TRUE(attempts) << attempts.error().text();
    return attempts->at(static_cast<std::size_t>(number - 1));
  }

  TempDir folder_ = *TempDir::create();
  std::unique_ptr<RunRecords> records_ = *RunRecords::open(folder_.path());
};

TEST_F(AttemptRecordsTest, EveryStageComesBackAsItWas) {
  Attempt a{.number = 1, .proposal = {Pass::kOptimization, 4, 3, 2, 1, 5}};
  ASSERT_TRUE(records_->save_proposal("r", a));
  Attempt back = again();
  EXPECT_EQ(back.proposal.pass, Pass::kOptimization);
  EXPECT_EQ(back.proposal.parent, 4);
  EXPECT_EQ(back.proposal.rival, 3);
  EXPECT_EQ(back.proposal.inspiration, 2);
  EXPECT_EQ(back.proposal.lane, 1);
  EXPECT_EQ(back.proposal.generator, 5);
  EXPECT_FALSE(back.advice || back.generation || back.judgement || back.decision);

  a.proposal.generator = 2;
  ASSERT_TRUE(records_->change_proposal("r", a));
  set_advice(a,
             {.change = "tile it", .expected_gain = 1.5, .confidence = 0.25, .tag = "tile", .by = "rules"});
  ASSERT_TRUE(records_->save_advice("r", a));
  set_source(a, "int x;");
  a.generation->change = "first";
  a.generation->generator = "openai:m";
  a.generation->seconds = 2;
  ASSERT_TRUE(records_->save_generation("r", a));
  back = again();
  EXPECT_EQ(back.proposal.generator, 2);
  EXPECT_EQ(back.advice->change, "tile it");
  EXPECT_EQ(back.advice->confidence, 0.25);
  EXPECT_EQ(back.generation->change, "first");
  EXPECT_EQ(back.generation->status, ReplyStatus::kOk);
  EXPECT_EQ(back.generation->followed_advice, true);
  EXPECT_EQ(back.program()->files.at(0).content, "int x;");
  EXPECT_FALSE(back.judgement);

  AttemptJudgement& found = judged(a, Outcome::kPassed);
  found.time_ns = 0.1;
  found.speedup = Speedup{1.5, 1.25, 1.75, "onednn"};
  found.roofline_fraction = 0.5;
  found.evidence = Figures{{{"text", "not \xff utf8"}}};
  found.tuning = "BM=3 1 ms\n";
  found.tuned = Candidate{{{"kernel.cc", "int y;"}}, "tuned"};
  found.clock = 12.5;
  a.decision->better = true;
  ASSERT_TRUE(records_->save_judgement("r", a));
  back = again();
  EXPECT_EQ(back.judgement->outcome, Outcome::kPassed);
  EXPECT_EQ(back.judgement->time_ns, 0.1);
  EXPECT_EQ(back.judgement->speedup->hi, 1.75);
  EXPECT_EQ(back.judgement->speedup->against, "onednn");
  EXPECT_FALSE(back.judgement->over_rival);
  EXPECT_FALSE(back.judgement->gate);
  EXPECT_EQ(back.judgement->roofline_fraction, 0.5);
  EXPECT_EQ(back.judgement->tuning, found.tuning);
  EXPECT_EQ(back.judgement->clock, 12.5);
  EXPECT_EQ(back.program()->files.at(0).content, "int y;") << "what was judged";
  EXPECT_TRUE(back.better());
  EXPECT_FALSE(back.accepted());
}

TEST_F(AttemptRecordsTest, WithoutAProgramTheReasonIsKept) {
  Attempt a{.number = 1};
  generated(a).status = ReplyStatus::kNoCode;
  a.generation->program = std::unexpected(Failure(NoProgram{"the reply has no fenced block"}));
  ASSERT_TRUE(records_->save_proposal("r", a));
  ASSERT_TRUE(records_->save_generation("r", a));
  Attempt back = again();
  EXPECT_EQ(back.program(), nullptr);
  EXPECT_EQ(reason_text(back.generation->program.error()), "the reply has no fenced block");
}

// Promised and measured stand side by side only where the advice was followed.
TEST_F(AttemptRecordsTest, AGainIsBookedToAdviceOnlyWhenItWasFollowed) {
  for (int number : {1, 2}) {
    Attempt a{.number = number};
    ASSERT_TRUE(records_->save_proposal("r", a));
    set_advice(a, {.tag = "unroll"}, number == 1);
    ASSERT_TRUE(records_->save_advice("r", a));
    set_source(a, "int x;");
    ASSERT_TRUE(records_->save_generation("r", a));
    judged(a, Outcome::kPassed);
    set_gain(a, 1.25, 1.1, 1.4);
    ASSERT_TRUE(records_->save_judgement("r", a));
  }
  auto database = *Database::open(folder_.path() / "store.db");
  auto query = *database.prepare("SELECT followed, measured_gain FROM advice ORDER BY attempt");
  ASSERT_TRUE(*query.step());
  EXPECT_EQ(query.integer(0), 1);
  EXPECT_EQ(query.real(1), 1.25);
  ASSERT_TRUE(*query.step());
  EXPECT_EQ(query.integer(0), 0);
  EXPECT_TRUE(query.is_null(1));
  EXPECT_EQ(again(1).gain_of_advice()->value, 1.25);
  EXPECT_EQ(again(2).gain_of_advice(), nullptr);
}

TEST_F(AttemptRecordsTest, ADamagedRecordIsAnErrorThatSaysWhich) {
  ASSERT_TRUE(records_->save_proposal("r", {.number = 1}));
  auto database = *Database::open(folder_.path() / "store.db");
  ASSERT_TRUE(database.execute("UPDATE attempt SET plan = '{\"pass\": \"fastest\"}'"));
  auto attempts = records_->attempts("r");
  ASSERT_FALSE(attempts);
  EXPECT_NE(attempts.error().message.find("a proposal"), std::string::npos);
  EXPECT_NE(attempts.error().message.find("pass"), std::string::npos) << attempts.error().message;
}

TEST_F(AttemptRecordsTest, ProfilesKeepEveryByteAndTheSettingComesBack) {
  EXPECT_FALSE(*records_->profile("r", 1));
  Profile p;
  p.facts.push_back({"ipc", 1.5, "", "perf"});
  p.texts.push_back({"remarks", "not \xff utf8", "gcc"});
  p.pictures.push_back({"flame", "hotspot", std::string("\x89PNG\0\xff", 6)});
  p.absent.push_back("perf: none");
  ASSERT_TRUE(records_->save_profile("r", 1, p));
  Profile back = **records_->profile("r", 1);
  EXPECT_EQ(back.facts[0].value, 1.5);
  EXPECT_EQ(back.texts[0].text, "not \xff utf8");
  EXPECT_EQ(back.pictures[0].png, p.pictures[0].png);
  EXPECT_EQ(back.absent[0], "perf: none");

  EXPECT_FALSE(*records_->setting("r"));
  ASSERT_TRUE(records_->save_setting("r", {{{"onednn", 1500, Interval{1500, 1400, 1650}}, {"torch", 2500.5}},
                                           {{"MatMul (mm)", 1000}},
                                           {"a note"}}));
  MeasuredSetting setting = **records_->setting("r");
  ASSERT_EQ(setting.baselines.size(), 2u);
  EXPECT_EQ(setting.baselines[1].ns, 2500.5);
  ASSERT_TRUE(setting.baselines[0].interval);
  EXPECT_EQ(setting.baselines[0].interval->lo, 1400);
  EXPECT_EQ(setting.baselines[0].interval->hi, 1650);
  EXPECT_FALSE(setting.baselines[1].interval);
  EXPECT_EQ(setting.operators.at(0).name, "MatMul (mm)");
  EXPECT_EQ(setting.notes, std::vector<std::string>{"a note"});
}

// A store that the program wrote before attempts were one record.
class OldStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path data = fs::path(KFORGE_SOURCE_DIR) / "tests" / "data" / "store_v2";
    {
      auto database = Database::open(folder_.path() / "store.db");
      ASSERT_TRUE(database);
      ASSERT_TRUE(database->execute(*read_file(data / "store.sql")));
    }
    for (const auto& file : fs::directory_iterator(data)) {
      const std::string name = file.path().filename().string();
      if (name.size() != 64) continue;
      fs::create_directories(folder_.path() / "artefacts" / name.substr(0, 2));
      fs::copy_file(file.path(), folder_.path() / "artefacts" / name.substr(0, 2) / name);
    }
  }
  TempDir folder_ = *TempDir::create();
};

TEST_F(OldStoreTest, RunsOfVersionTwoAreReadAsTheyWere) {
  auto records = RunRecords::open(folder_.path());
  ASSERT_TRUE(records) << records.error().text();
  auto runs = (*records)->latest("relu", 10);
  ASSERT_TRUE(runs) << runs.error().text();
  ASSERT_EQ(runs->size(), 2u);
  const StoredRun &model = runs->at(0), &smith = runs->at(1);
  EXPECT_EQ(smith.ended, Ending::kExhausted);
  EXPECT_EQ(smith.state, RunState::kFinished);
  EXPECT_EQ(model.ended, Ending::kAttempts);
  EXPECT_EQ(std::get<std::string>(smith.options.at("budget")), "4 attempts");
  EXPECT_EQ(std::get<std::vector<std::string>>(model.options.at("generators")).at(0), "openai:m");

  auto a = (*records)->attempts(smith.id);
  ASSERT_TRUE(a) << a.error().text();
  ASSERT_EQ(a->size(), 4u);
  EXPECT_TRUE(a->at(0).accepted());
  EXPECT_EQ(a->at(1).judgement->outcome, Outcome::kSlower);
  EXPECT_FALSE(a->at(1).better());
  EXPECT_NEAR(a->at(1).gain()->value, 0.973, 0.001);
  EXPECT_EQ(a->at(2).proposal.parent, 1);
  EXPECT_TRUE(a->at(2).accepted());
  EXPECT_GT(*a->at(2).judgement->roofline_fraction, 0);
  EXPECT_NE(a->at(2).generation->rationale.find("vectorize"), std::string::npos);
  EXPECT_NE(a->at(2).program()->files.at(0).content.find("kernel"), std::string::npos);
  EXPECT_EQ(a->at(2).advice->tag, "unroll");
  EXPECT_EQ(a->at(2).generation->followed_advice, std::nullopt) << "not known then";
  EXPECT_EQ(a->at(2).gain_of_advice(), nullptr);
  EXPECT_EQ(a->at(3).generation->status, ReplyStatus::kExhausted);
  EXPECT_FALSE(a->at(3).judgement);

  a = (*records)->attempts(model.id);
  ASSERT_TRUE(a) << a.error().text();
  ASSERT_EQ(a->size(), 4u);
  EXPECT_EQ(a->at(0).judgement->outcome, Outcome::kCompileError);
  EXPECT_EQ(a->at(0).judgement->gate, std::nullopt);
  EXPECT_EQ(a->at(1).judgement->outcome, Outcome::kWrongValue);
  EXPECT_EQ(a->at(1).judgement->gate, Gate::kAccuracy);
  const auto* compared = std::get_if<ComparedOutput>(&a->at(1).judgement->evidence);
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->error_by_region.size(), 8u);
  EXPECT_NE(a->at(3).program()->files.at(0).content.find("#define REPEAT 1"), std::string::npos);
  EXPECT_NE(a->at(3).generation->program->files.at(0).content.find("tune REPEAT"), std::string::npos);
  auto calls = (*records)->calls(model.id);
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 4u);
  EXPECT_EQ(calls->at(0).state, CallState::kReceived);
  EXPECT_EQ(calls->at(0).ended, ReplyEnd::kComplete);
}

}  // namespace
}  // namespace kforge
