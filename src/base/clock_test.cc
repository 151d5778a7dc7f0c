#include "base/clock.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

TEST(Clock, SecondsGrow) {
  auto start = std::chrono::steady_clock::now() - std::chrono::milliseconds(1500);
  EXPECT_GE(seconds_since(start), 1.5);
  EXPECT_LT(seconds_since(start), 60);
}

TEST(Clock, DatesSortAsText) {
  EXPECT_THAT(utc_now(),
              testing::MatchesRegex("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z"));
}

}  // namespace
}  // namespace kforge
