#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/generator.h"
#include "llm/scripted_model.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;

const std::string kAnswer =
    "CHANGE: first\n````cpp path=kernel.cc\nextern \"C\" void kernel(const float* x, float* y) { *y = *x; "
    "}\n````\n";

class ModelGeneratorTest : public testing::Test {
 protected:
  ModelGeneratorTest()
      : scratch_(
            "description = \"a copy\"\n[shapes]\nbench = { N = 4 }\nsmall = { N = 2 }\nodd = { N = 3 }\n",
            "copy (float[N] x) => (float[N] y) { y = Identity (x) }"),
        bound_(scratch_.bind("bench")) {
    platform_.name = "toy";
    platform_.kind = "native";
    platform_.language = "C++20";
    platform_.files = {".cc"};
    context_.task = &bound_;
    context_.platform = &platform_;
    plan_.attempt = 3;
  }
  Generation run(std::vector<ModelReply> replies) {
    model_.emplace(std::move(replies));
    ModelGenerator generator(*model_);
    auto generation = generator.generate(plan_, context_, {});
    EXPECT_TRUE(generation) << generation.error().text();
    return generation ? std::move(*generation) : Generation{};
  }

  ScratchTask scratch_;
  BoundTask bound_;
  Platform platform_;
  AgentSetting context_;
  Plan plan_;
  std::optional<ScriptedModel> model_;
};

TEST_F(ModelGeneratorTest, OneCallOneProgram) {
  Generation g = run({ScriptedModel::says(kAnswer)});
  ASSERT_TRUE(g.program);
  EXPECT_EQ(g.change, "first");
  EXPECT_EQ(g.program->origin, "model scripted attempt 3");
  ASSERT_EQ(g.calls.size(), 1u);
  EXPECT_EQ(model_->requests[0].role, "generator");
  EXPECT_EQ(model_->requests[0].attempt, 3);
  EXPECT_EQ(total_usage(g.calls).input, 100);
  EXPECT_DOUBLE_EQ(*total_usage(g.calls).dollars, 0.01);
}

TEST_F(ModelGeneratorTest, ATruncatedReplyIsContinued) {
  Generation g = run({ScriptedModel::says(kAnswer.substr(0, 60), ReplyEnd::kTruncated),
                      ScriptedModel::says(kAnswer.substr(60))});
  ASSERT_TRUE(g.program);
  EXPECT_EQ(g.status, ReplyStatus::kOk);
  ASSERT_EQ(model_->requests.size(), 2u);
  EXPECT_EQ(model_->requests[1].messages.size(), 3u);
  EXPECT_EQ(model_->requests[1].messages[1].text, kAnswer.substr(0, 60));
  EXPECT_EQ(model_->requests[1].ordinal, 1);
}

TEST_F(ModelGeneratorTest, EndlessRepliesAreGivenUp) {
  Generation g = run({ScriptedModel::says("````cpp path=kernel.cc\n", ReplyEnd::kTruncated),
                      ScriptedModel::says("int a;\n", ReplyEnd::kTruncated),
                      ScriptedModel::says("int b;\n", ReplyEnd::kTruncated)});
  ASSERT_FALSE(g.program);
  EXPECT_EQ(g.status, ReplyStatus::kTruncated);
  EXPECT_EQ(g.calls.size(), 3u);
}

TEST_F(ModelGeneratorTest, APromptThatIsTooLongIsShrunk) {
  platform_.notes = std::string(2'000, 'n');
  Generation g = run({ScriptedModel::says("", ReplyEnd::kContextOverflow),
                      ScriptedModel::says("", ReplyEnd::kContextOverflow), ScriptedModel::says(kAnswer)});
  ASSERT_TRUE(g.program);
  EXPECT_LT(model_->requests[2].system.size(), model_->requests[0].system.size());
  Generation never = run({ScriptedModel::says("", ReplyEnd::kContextOverflow),
                          ScriptedModel::says("", ReplyEnd::kContextOverflow),
                          ScriptedModel::says("", ReplyEnd::kContextOverflow)});
  EXPECT_FALSE(never.program);
  EXPECT_EQ(never.status, ReplyStatus::kTooLong);
}

TEST_F(ModelGeneratorTest, RefusedEmptyAndBrokenReplies) {
  Generation refused = run({ScriptedModel::says("", ReplyEnd::kRefused)});
  ASSERT_FALSE(refused.program);
  EXPECT_EQ(refused.status, ReplyStatus::kRefused);
  Generation once = run({ScriptedModel::says("", ReplyEnd::kEmpty), ScriptedModel::says(kAnswer)});
  EXPECT_TRUE(once.program);
  Generation twice =
      run({ScriptedModel::says("", ReplyEnd::kCut), ScriptedModel::says("", ReplyEnd::kGarbage)});
  ASSERT_FALSE(twice.program);
  EXPECT_EQ(twice.calls.size(), 2u);
}

TEST_F(ModelGeneratorTest, AServiceThatFailsIsAnError) {
  ScriptedModel model({});
  ModelGenerator generator(model);
  auto generation = generator.generate(plan_, context_, {});
  ASSERT_FALSE(generation);
  EXPECT_THAT(generation.error().message, HasSubstr("no more replies"));
}

TEST_F(ModelGeneratorTest, TheSameProgramAgainIsNoProgress) {
  Attempt last;
  last.judgement = AttemptJudgement{.outcome = Outcome::kCompileError};
  last.generation = Generation{
      .program = Candidate{
          {{"kernel.cc", "extern \"C\" void kernel(const float* x, float* y) { *y = *x; }\n"}}, "test"}};
  plan_.last = &last;
  Generation g = run({ScriptedModel::says(kAnswer)});
  ASSERT_FALSE(g.program);
  EXPECT_EQ(g.status, ReplyStatus::kUnchanged);
}

TEST(TotalUsage, DollarsOnlyWhenEveryPriceIsKnown) {
  ModelCall priced, unpriced;
  priced.usage.dollars = 1;
  EXPECT_EQ(total_usage({priced, priced}).dollars, 2);
  EXPECT_FALSE(total_usage({priced, unpriced}).dollars);
}

}  // namespace
}  // namespace kforge
