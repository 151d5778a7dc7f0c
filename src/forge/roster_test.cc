#include "forge/roster.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Roster, TheTurnOfOneThatFailsGoesToTheNext) {
  Roster roster(3);
  EXPECT_EQ(roster.working(1), 1);
  EXPECT_TRUE(roster.set_aside(1, {"no credit", ""}));
  EXPECT_FALSE(roster.set_aside(1, {"no credit", ""})) << "it is told once";
  EXPECT_EQ(roster.working(1), 2);
  EXPECT_EQ(roster.working(0), 0);
  EXPECT_TRUE(roster.set_aside(2, {"no such key", "set it"}));
  EXPECT_EQ(roster.working(1), 0) << "round the end";
  EXPECT_EQ(roster.working(2), 0);
}

TEST(Roster, WhenAllHaveFailedTheLastReasonIsKept) {
  Roster roster(2);
  roster.set_aside(0, {"first", ""});
  roster.set_aside(1, {"second", "wait"});
  EXPECT_EQ(roster.working(0), std::nullopt);
  EXPECT_EQ(roster.last_failure().message, "second");
  EXPECT_EQ(roster.last_failure().remedy, "wait");
}

}  // namespace
}  // namespace kforge
