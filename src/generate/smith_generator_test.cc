#include "generate/smith_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "machine/machine.h"
#include "task/task.h"

namespace kforge {
namespace {

using testing::HasSubstr;

smith::Problem problem(const Machine& machine) {
  const auto task = load_task("core/softmax");
  EXPECT_TRUE(task) << task.error().text();
  const auto bound = bind_task(*task, "small");
  EXPECT_TRUE(bound) << bound.error().text();
  return problem_of(*bound, machine, 2, "fp32");
}

// A schedule that won once may be a poor one for this shape or this version: the analytic design races it.
TEST(SmithGenerator, WhatWonBeforeIsRacedByTheAnalyticDesign) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  const auto analytic = smith::first_design(problem(*machine), "");
  ASSERT_TRUE(analytic);
  const auto moves = smith::moves(problem(*machine), *analytic);
  ASSERT_FALSE(moves.empty());

  SmithGenerator agent(problem(*machine));
  agent.start_from(moves[0].schedule);
  Plan plan{.attempt = 1};
  const auto first = agent.generate(plan, {}, {});
  ASSERT_TRUE(first);
  EXPECT_THAT(first->change, HasSubstr("won on this family before"));

  const Attempt made{.number = 1};
  plan = {.pass = Pass::kOptimization, .attempt = 2, .best = &made, .last = &made};
  const auto second = agent.generate(plan, {}, {});
  ASSERT_TRUE(second);
  EXPECT_THAT(second->change, HasSubstr("beside what won"));
  EXPECT_EQ(second->schedule, analytic->schedule);
  plan.attempt = 3;
  const auto third = agent.generate(plan, {}, {});
  ASSERT_TRUE(third);
  EXPECT_NE(third->schedule, analytic->schedule);
  EXPECT_NE(third->schedule, first->schedule);
}

TEST(SmithGenerator, WithoutAMemoryTheAnalyticDesignIsTheFirst) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithGenerator agent(problem(*machine));
  const auto first = agent.generate({.attempt = 1}, {}, {});
  ASSERT_TRUE(first);
  EXPECT_THAT(first->change, HasSubstr("first design"));
  const Attempt made{.number = 1};
  const auto second =
      agent.generate({.pass = Pass::kOptimization, .attempt = 2, .best = &made, .last = &made}, {}, {});
  ASSERT_TRUE(second);
  EXPECT_NE(second->schedule, first->schedule);
}

// The measured gain of another change must not be booked to the advice.
TEST(SmithGenerator, SaysWhetherTheAdviceWasFollowed) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithGenerator generator(problem(*machine));
  ASSERT_TRUE(generator.generate({.attempt = 1}, {}, {}));
  const auto analytic = smith::first_design(problem(*machine), "");
  ASSERT_TRUE(analytic);
  std::string tag;
  for (const smith::Move& move : smith::moves(problem(*machine), *analytic))
    if (move.tag != "algorithm") tag = move.tag;
  ASSERT_FALSE(tag.empty());
  const Attempt made{.number = 1};
  Plan plan{.pass = Pass::kOptimization, .attempt = 2, .best = &made, .last = &made};
  plan.advice = Advice{.tag = tag};
  const auto followed = generator.generate(plan, {}, {});
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->followed_advice, true) << followed->change;
  plan.attempt = 3;
  plan.advice = Advice{.tag = "no move of the smith is of this kind"};
  const auto other = generator.generate(plan, {}, {});
  ASSERT_TRUE(other);
  ASSERT_TRUE(other->program);
  EXPECT_EQ(other->followed_advice, false);
  plan.attempt = 4;
  plan.advice.reset();
  EXPECT_EQ(generator.generate(plan, {}, {})->followed_advice, std::nullopt);
}

TEST(SmithGenerator, AdviceOfAKindItNamesIsFollowed) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithGenerator generator(problem(*machine));
  ASSERT_TRUE(generator.generate({.attempt = 1}, {}, {}));
  const Attempt made{.number = 1};
  Plan plan{.pass = Pass::kOptimization, .attempt = 2, .best = &made, .last = &made};
  for (int i = 0; i < 4; ++i, ++plan.attempt) {
    const auto kinds = generator.kinds_of_change(made);
    if (kinds.empty()) break;
    plan.advice = Advice{.tag = kinds.back()};
    const auto next = generator.generate(plan, {}, {});
    ASSERT_TRUE(next && next->program);
    EXPECT_EQ(next->followed_advice, true) << kinds.back() << ": " << next->change;
  }
  EXPECT_GT(plan.attempt, 2);
  EXPECT_TRUE(generator.kinds_of_change({.number = 9}).empty()) << "not its own";
}

// Several lines of descent ask for a first program: each gets another one.
TEST(SmithGenerator, EveryDraftIsAnotherDesign) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithGenerator generator(problem(*machine));
  std::set<std::string> schedules;
  for (int i = 1; i <= 3; ++i) {
    const auto draft = generator.generate({.attempt = i}, {}, {});
    ASSERT_TRUE(draft && draft->program);
    schedules.insert(draft->schedule);
  }
  EXPECT_EQ(schedules.size(), 3u);
}

// A search over several schedules goes on beside an exhausted one; a search from the best ends there.
TEST(SmithGenerator, ExhaustedFromTheBestButNotFromTheOthers) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithGenerator generator(problem(*machine));
  ASSERT_TRUE(generator.generate({.attempt = 1}, {}, {}));
  const Attempt best{.number = 1}, second{.number = 2};
  Plan plan{.pass = Pass::kOptimization, .best = &best, .last = &best};
  ReplyStatus status = ReplyStatus::kOk;
  for (plan.attempt = 2; plan.attempt < 500 && status == ReplyStatus::kOk; ++plan.attempt) {
    const auto made = generator.generate(plan, {}, {});
    ASSERT_TRUE(made);
    status = made->status;
  }
  EXPECT_EQ(status, ReplyStatus::kExhausted);
  plan.last = &second;
  const auto beside = generator.generate(plan, {}, {});
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->status, ReplyStatus::kOk);
}

TEST(SmithOnDevices, WritesSourceAndPlanAndTriesFewerThreads) {
  Task task = load_task("core/softmax").value();
  BoundTask bound = bind_task(task, "bench").value();
  SmithGenerator generator(problem_of(bound, Machine{}, 2, "fp32"), smith::DeviceLanguage::kOpenCl);
  AgentSetting setting;
  std::set<std::string> sources;
  for (int attempt = 1; attempt <= 4; ++attempt) {
    Plan plan;
    plan.attempt = attempt;
    auto made = generator.generate(plan, setting, {});
    ASSERT_TRUE(made && made->program) << attempt;
    EXPECT_EQ(made->program->files.front().name, "kernel.cl");
    ASSERT_TRUE(made->program->plan());
    EXPECT_TRUE(sources.insert(made->program->files.front().content).second) << "the same program again";
  }
  Plan plan;
  plan.attempt = 5;
  auto last = generator.generate(plan, setting, {});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status, ReplyStatus::kExhausted);
}

TEST(SmithOnDevices, EveryDriverHasItsLanguage) {
  Platform platform;
  EXPECT_FALSE(device_language(platform)) << "a native one";
  platform.kind = PlatformKind::kDevice;
  platform.run.driver = DeviceDriver::kVulkan;
  EXPECT_EQ(device_language(platform), smith::DeviceLanguage::kGlsl);
}

}  // namespace
}  // namespace kforge
