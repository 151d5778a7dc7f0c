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
    platform_.kind = PlatformKind::kNative;
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
  Generation g =
      run({ScriptedModel::says(kAnswer), ScriptedModel::says(kAnswer), ScriptedModel::says(kAnswer)});
  ASSERT_FALSE(g.program);
  EXPECT_EQ(g.status, ReplyStatus::kUnchanged);
  EXPECT_EQ(g.calls.size(), 3u) << "asked again, and again, and then given up";
}

TEST_F(ModelGeneratorTest, AReplyWithoutAProgramIsAskedForAgainWithWhatIsWrong) {
  plan_.advice = Advice{.change = "unroll by four", .tag = "unroll"};
  plan_.profile = "- l1_miss_rate: 12";
  Generation g = run({ScriptedModel::says("I would rather not."), ScriptedModel::says(kAnswer)});
  ASSERT_TRUE(g.program);
  ASSERT_EQ(model_->requests.size(), 2u);
  const std::vector<Message>& messages = model_->requests[1].messages;
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].text, model_->requests[0].messages[0].text) << "advice and profile stand";
  EXPECT_THAT(messages[0].text, HasSubstr("unroll by four"));
  EXPECT_EQ(messages[1].text, "I would rather not.");
  EXPECT_THAT(messages[2].text, HasSubstr("no fenced block with a program"));
  EXPECT_EQ(model_->requests[1].ordinal, 1);
}

TEST_F(ModelGeneratorTest, EditsThatDoNotMatchAreAskedForAgain) {
  Attempt last;
  last.judgement = AttemptJudgement{.outcome = Outcome::kPassed};
  last.generation =
      Generation{.program = Candidate{{{"kernel.cc", "extern \"C\" void kernel() { old(); }\n"}}, "test"}};
  plan_.last = &last;
  auto edit = [](const std::string& from) {
    return "CHANGE: e\n````edit path=kernel.cc\n<<<<<<< SEARCH\n" + from +
           "\n=======\nextern \"C\" void kernel() { fresh(); }\n>>>>>>> REPLACE\n````\n";
  };
  Generation g = run({ScriptedModel::says(edit("not there")),
                      ScriptedModel::says(edit("extern \"C\" void kernel() { old(); }"))});
  ASSERT_TRUE(g.program);
  EXPECT_THAT(g.program->files[0].content, HasSubstr("fresh"));
  EXPECT_THAT(model_->requests[1].messages[2].text, HasSubstr("No edit was applied"));
}

TEST_F(ModelGeneratorTest, WhatIsNotSaidToBeFollowedIsNotCredited) {
  plan_.advice = Advice{.change = "unroll", .tag = "unroll"};
  EXPECT_EQ(run({ScriptedModel::says(kAnswer)}).followed_advice, std::nullopt);
  EXPECT_EQ(run({ScriptedModel::says("FOLLOWED: yes\n" + kAnswer)}).followed_advice, true);
  EXPECT_EQ(run({ScriptedModel::says("FOLLOWED: no\n" + kAnswer)}).followed_advice, false);
}

TEST(TotalUsage, DollarsOnlyWhenEveryPriceIsKnown) {
  ModelCall priced, unpriced;
  priced.usage.dollars = 1;
  EXPECT_EQ(total_usage({priced, priced}).dollars, 2);
  EXPECT_FALSE(total_usage({priced, unpriced}).dollars);
}

}  // namespace
}  // namespace kforge
