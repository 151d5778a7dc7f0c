#include "execute/call_deadline.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr CallDeadline::Clock::time_point kStart{};
constexpr double kSecond = 1e9;

TEST(CallDeadline, WhoDidNotWaitForAProcessorIsLate) {
  CallDeadline deadline(kStart, milliseconds(1000));
  EXPECT_EQ(deadline.at(), kStart + seconds(1));
  EXPECT_FALSE(deadline.extend(0));
  EXPECT_FALSE(deadline.extend(0.001 * kSecond));
  EXPECT_EQ(deadline.at(), kStart + seconds(1));
}

TEST(CallDeadline, WaitingForAProcessorIsGivenBackOnce) {
  CallDeadline deadline(kStart, milliseconds(1000));
  EXPECT_TRUE(deadline.extend(0.8 * kSecond));
  EXPECT_EQ(deadline.at(), kStart + milliseconds(1800));
  EXPECT_TRUE(deadline.extend(1.3 * kSecond));
  EXPECT_EQ(deadline.at(), kStart + milliseconds(2300));
  EXPECT_FALSE(deadline.extend(1.3 * kSecond));
}

TEST(CallDeadline, PatienceEnds) {
  CallDeadline deadline(kStart, milliseconds(1000));
  EXPECT_TRUE(deadline.extend(100 * kSecond));
  EXPECT_EQ(deadline.at(), kStart + seconds(10));
  EXPECT_FALSE(deadline.extend(200 * kSecond));
}

}  // namespace
}  // namespace kforge
