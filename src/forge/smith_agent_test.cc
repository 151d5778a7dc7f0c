#include "forge/smith_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
TEST(SmithAgent, WhatWonBeforeIsRacedByTheAnalyticDesign) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  const auto analytic = smith::first_design(problem(*machine), "");
  ASSERT_TRUE(analytic);
  const auto moves = smith::moves(problem(*machine), *analytic);
  ASSERT_FALSE(moves.empty());

  SmithAgent agent(problem(*machine));
  agent.set_first_guess(moves[0].schedule);
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

TEST(SmithAgent, WithoutAMemoryTheAnalyticDesignIsTheFirst) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine);
  SmithAgent agent(problem(*machine));
  const auto first = agent.generate({.attempt = 1}, {}, {});
  ASSERT_TRUE(first);
  EXPECT_THAT(first->change, HasSubstr("first design"));
  const Attempt made{.number = 1};
  const auto second =
      agent.generate({.pass = Pass::kOptimization, .attempt = 2, .best = &made, .last = &made}, {}, {});
  ASSERT_TRUE(second);
  EXPECT_NE(second->schedule, first->schedule);
}

}  // namespace
}  // namespace kforge
