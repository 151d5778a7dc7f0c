#include "forge/available_agents.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(AvailableAgents, TheTurnOfOneThatFailsGoesToTheNext) {
  AvailableAgents agents(3);
  EXPECT_EQ(agents.working(1), 1);
  EXPECT_TRUE(agents.set_aside(1, {"no credit", ""}));
  EXPECT_FALSE(agents.set_aside(1, {"no credit", ""})) << "it is told once";
  EXPECT_EQ(agents.working(1), 2);
  EXPECT_EQ(agents.working(0), 0);
  EXPECT_TRUE(agents.set_aside(2, {"no such key", "set it"}));
  EXPECT_EQ(agents.working(1), 0) << "round the end";
  EXPECT_EQ(agents.working(2), 0);
}

TEST(AvailableAgents, WhenAllHaveFailedTheLastReasonIsKept) {
  AvailableAgents agents(2);
  agents.set_aside(0, {"first", ""});
  agents.set_aside(1, {"second", "wait"});
  EXPECT_EQ(agents.working(0), std::nullopt);
  EXPECT_EQ(agents.last_failure().message, "second");
  EXPECT_EQ(agents.last_failure().remedy, "wait");
}

}  // namespace
}  // namespace kforge
