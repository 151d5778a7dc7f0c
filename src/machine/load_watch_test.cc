#include "machine/load_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kforge {
namespace {

TEST(LoadWatch, CountsOthersThatAreReadyToRun) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 4; ++i)
    busy.emplace_back([&] {
      while (!stop) {
      }
    });
  LoadWatch watch;
  for (int i = 0; i < 10; ++i) {
    watch.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  const MachineLoad load = watch.load();
  EXPECT_GE(load.run_queue, 3);
  EXPECT_TRUE(load.busy());
}

TEST(LoadWatch, SaysNothingBeforeItLooked) {
  const LoadWatch watch;
  EXPECT_EQ(watch.load().run_queue, 0);
  EXPECT_EQ(watch.load().calibration, 0);
}

}  // namespace
}  // namespace kforge
