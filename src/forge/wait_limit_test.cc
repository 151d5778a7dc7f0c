#include "forge/wait_limit.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(WaitLimit, EndsAtItsTime) {
  WaitLimit at_once({}, 0);
  while (!at_once.over()) std::this_thread::yield();
  EXPECT_TRUE(at_once.token().stop_requested());
}

TEST(WaitLimit, WithoutATimeOnlyTheUserEndsIt) {
  std::stop_source user;
  WaitLimit limit(user.get_token(), std::nullopt);
  EXPECT_FALSE(limit.over());
  user.request_stop();
  EXPECT_TRUE(limit.over());
}

TEST(WaitLimit, ALongOneDoesNotKeepTheRunFromEnding) {
  WaitLimit limit({}, 1e30);
  EXPECT_FALSE(limit.over());
}

}  // namespace
}  // namespace kforge
