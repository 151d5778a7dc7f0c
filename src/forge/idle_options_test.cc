#include "forge/idle_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::Contains;
using testing::HasSubstr;

class FakeGenerator final : public Generator {
 public:
  explicit FakeGenerator(GeneratorTraits traits) : traits_(traits) {}
  std::string name() const override { return "fake"; }
  GeneratorTraits traits() const override { return traits_; }
  Result<Generation> generate(const Plan&, const AgentSetting&, const ReplyWatch&) override {
    return fail("not asked");
  }

 private:
  GeneratorTraits traits_;
};

class FakeModel final : public ModelClient {
 public:
  std::string name() const override { return "fake"; }
  bool accepts_images() const override { return false; }
  Result<ModelReply> ask(const ModelRequest&, const ReplyWatch&) override { return fail("not asked"); }
};

class IdleOptions : public testing::Test {
 protected:
  IdleOptions() {
    builtin_.generators.push_back(
        std::make_unique<FakeGenerator>(GeneratorTraits{.raced = true, .local = true}));
    model_.generators.push_back(
        std::make_unique<FakeGenerator>(GeneratorTraits{.paid = true, .prompted = true, .repairs = true}));
    model_.models.push_back(std::make_unique<FakeModel>());
  }
  Agents builtin_, model_;
  ForgeOptions options_;
  const StrategyEntry &chain_ = **find_strategy("chain"), &beam_ = **find_strategy("beam");
};

TEST_F(IdleOptions, WithoutOptionsThereIsNothingToSay) {
  EXPECT_TRUE(idle_options(options_, builtin_, chain_).empty());
  EXPECT_TRUE(idle_options(options_, model_, beam_).empty());
}

TEST_F(IdleOptions, WhatOnlyModelsUseIsToldToWhoAsksNone) {
  options_.repairs = 7;
  options_.reference = "auto";
  options_.record = "file";
  options_.config = "file";
  options_.budget.dollars = 2;
  options_.timing_seconds = 9;
  options_.without = {"example"};
  auto notes = idle_options(options_, builtin_, beam_);
  EXPECT_EQ(notes.size(), 7u) << testing::PrintToString(notes);
  for (const char* option :
       {"--repairs", "--reference", "--record", "--config", "dollars", "--seconds", "--without example"})
    EXPECT_THAT(notes, Contains(HasSubstr(option)));
  EXPECT_TRUE(idle_options(options_, model_, beam_).empty());
}

TEST_F(IdleOptions, AWidthMeansNothingToAChain) {
  options_.width = 3;
  EXPECT_THAT(idle_options(options_, model_, chain_), Contains(HasSubstr("--width")));
  EXPECT_TRUE(idle_options(options_, builtin_, beam_).empty());
}

TEST_F(IdleOptions, WhatAnotherOptionSwitchesOff) {
  options_.analyst = "openai:x";
  options_.without = {"advice", "profile"};
  options_.profilers = {"perf"};
  options_.target = 2;
  options_.session.baselines = {"none"};
  auto notes = idle_options(options_, model_, chain_);
  for (const char* option : {"--analyst", "--profiler", "--target"})
    EXPECT_THAT(notes, Contains(HasSubstr(option)));
}

TEST_F(IdleOptions, ACheckHasNoUseForTimes) {
  options_.check_only = true;
  EXPECT_TRUE(idle_options(options_, builtin_, chain_).empty());
  options_.timing_seconds = 9;
  options_.session.baselines = {"onednn"};
  const auto notes = idle_options(options_, builtin_, chain_);
  EXPECT_EQ(notes.size(), 2u) << testing::PrintToString(notes);
  for (const char* option : {"--seconds", "--baseline"}) EXPECT_THAT(notes, Contains(HasSubstr(option)));
}

}  // namespace
}  // namespace kforge
