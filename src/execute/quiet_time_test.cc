#include "execute/quiet_time.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kforge {
namespace {

using namespace std::chrono_literals;

class RecordedProcess final : public SandboxedProcess {
 public:
  std::atomic<bool> stopped = false;

  pid_t pid() const override { return 1; }
  void send_stop() override { stopped = true; }
  std::optional<std::chrono::steady_clock::time_point> stop() override {
    stopped = true;
    return std::chrono::steady_clock::now();
  }
  void resume() override { stopped = false; }
  Result<SandboxExit> wait() override { return SandboxExit{}; }
  bool ended() override { return false; }
  void kill() override {}
  int other_processes() const override { return 0; }
  std::string group_limits() const override { return ""; }
};

TEST(QuietTime, StopsWhatIsOnItsWayUpUntilTheLastEnds) {
  RecordedProcess process;
  BackgroundStart start({});
  ASSERT_TRUE(start.granted());
  start.watch(process);
  EXPECT_FALSE(process.stopped);
  {
    QuietTime outer;
    EXPECT_TRUE(process.stopped);
    { QuietTime inner; }
    EXPECT_TRUE(process.stopped);
  }
  EXPECT_FALSE(process.stopped);
}

// One that begins a moment before is stopped as well; one that is up waits for commands, and is let be.
TEST(QuietTime, StopsAProcessThatIsWatchedDuringIt) {
  RecordedProcess process;
  BackgroundStart start({});
  QuietTime quiet;
  start.watch(process);
  EXPECT_TRUE(process.stopped);
  start.release();
  EXPECT_FALSE(process.stopped);
}

TEST(QuietTime, NothingIsBegunDuringIt) {
  std::atomic<bool> begun = false;
  std::optional<QuietTime> quiet(std::in_place);
  std::jthread starter([&](const std::stop_token& stop) { begun = BackgroundStart(stop).granted(); });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(begun);
  quiet.reset();
  starter.join();
  EXPECT_TRUE(begun);
}

TEST(BackgroundStart, OneAtATime) {
  std::atomic<bool> second = false;
  std::optional<BackgroundStart> first(std::in_place, std::stop_token{});
  std::jthread other([&](const std::stop_token& stop) { second = BackgroundStart(stop).granted(); });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(second);
  first.reset();
  other.join();
  EXPECT_TRUE(second);
}

TEST(BackgroundStart, SideBySideWhereSomebodyWaits) {
  std::atomic<bool> second = false;
  BackgroundStart first({});
  std::jthread other([&](const std::stop_token& stop) { second = BackgroundStart(stop).granted(); });
  Hurry hurry;
  other.join();
  EXPECT_TRUE(second);
}

TEST(BackgroundStart, EndsWaitingWhenItIsNoLongerWanted) {
  QuietTime quiet;
  std::atomic<bool> granted = true;
  {
    std::jthread starter([&](const std::stop_token& stop) { granted = BackgroundStart(stop).granted(); });
  }
  EXPECT_FALSE(granted);
}

}  // namespace
}  // namespace kforge
