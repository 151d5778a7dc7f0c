#include "forge/lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kforge {
namespace {

using namespace std::chrono_literals;

TEST(Lanes, StepsRunOnTheCallersThreadOneAtATimeInTheOrderOfTheLanes) {
  const auto main_thread = std::this_thread::get_id();
  std::vector<int> judged;
  std::atomic<int> busy = 0, beside = 0, most_beside = 0;
  std::vector<LaneWork> work;
  for (int i = 0; i < 4; ++i)
    work.push_back([&, i](Lane& lane) -> Result<void> {
      auto step = [&] {
        EXPECT_EQ(std::this_thread::get_id(), main_thread);
        EXPECT_EQ(++busy, 1);
        --busy;
        return Result<void>();
      };
      KF_TRY_VOID(lane.alone(step));
      int now = ++beside;
      most_beside = std::max<int>(most_beside, now);
      std::this_thread::sleep_for((4 - i) * 20ms);  // the last one is ready first
      --beside;
      return lane.in_turn([&]() -> Result<void> {
        judged.push_back(i);
        return step();
      });
    });
  ASSERT_TRUE(run_lanes(work, true));
  EXPECT_EQ(judged, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_GT(most_beside, 1) << "what needs no cores goes on beside";
}

TEST(Lanes, WithoutThreadsOneEndsBeforeTheNextBegins) {
  std::vector<int> order;
  std::vector<LaneWork> work;
  for (int i = 0; i < 3; ++i)
    work.push_back([&, i](Lane& lane) -> Result<void> {
      order.push_back(i);
      return lane.in_turn([&]() -> Result<void> { return order.push_back(i), Result<void>(); });
    });
  ASSERT_TRUE(run_lanes(work, false));
  EXPECT_EQ(order, (std::vector<int>{0, 0, 1, 1, 2, 2}));
}

TEST(Lanes, AfterAnErrorNoFurtherStepBegins) {
  for (bool side_by_side : {false, true}) {
    std::atomic<int> steps = 0;
    std::vector<LaneWork> work;
    work.push_back(
        [&](Lane& lane) { return lane.in_turn([] { return Result<void>(fail("no compiler")); }); });
    work.push_back([&](Lane& lane) { return lane.in_turn([&] { return ++steps, Result<void>(); }); });
    auto done = run_lanes(work, side_by_side);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "no compiler");
    EXPECT_EQ(steps, 0);
  }
}

}  // namespace
}  // namespace kforge
