#include "verify/device_clock.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

bool disagrees(double device_ms, double wall_ms, double waited_ms = 0) {
  return device_clock_disagrees(
      {.device_ns = device_ms * 1e6, .parent_ns = wall_ms * 1e6, .delay_ns = waited_ms * 1e6});
}

TEST(DeviceClock, AgreesWithinWhatDriversDoAroundAKernel) {
  EXPECT_FALSE(disagrees(0, 10)) << "there is none";
  EXPECT_FALSE(disagrees(10, 10));
  EXPECT_FALSE(disagrees(6, 10)) << "before the first start and after the last end drivers work, too";
  EXPECT_FALSE(disagrees(10.9, 10)) << "two clocks differ by a little";
  EXPECT_FALSE(disagrees(0.1, 1)) << "a batch so short says nothing";
}

TEST(DeviceClock, ThatSaysMuchLessThanPassedIsWrong) {
  EXPECT_TRUE(disagrees(1, 10));
  EXPECT_TRUE(disagrees(0.001, 10));
  EXPECT_FALSE(disagrees(1, 10, 5)) << "the program waited for a processor meanwhile, by the kernel's books";
}

TEST(DeviceClock, ThatSaysMoreThanPassedIsWrong) {
  EXPECT_TRUE(disagrees(12, 10));
  EXPECT_TRUE(disagrees(1.3, 1));
  EXPECT_FALSE(disagrees(1.15, 1)) << "within what a message varies by";
}

}  // namespace
}  // namespace kforge
