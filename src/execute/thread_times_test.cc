#include "execute/thread_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kforge {
namespace {

TEST(ThreadTimes, TellsEveryThreadOfAProcess) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
    }
  });
  auto before = thread_times(::getpid());
  ASSERT_GE(before.size(), 2u);
  // Until the books say that it ran, however busy the machine is.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  TeamTimes team;
  while (team.computing == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team = team_times(before, thread_times(::getpid()));
  }
  stop = true;
  busy.join();
  EXPECT_GE(team.computing, 1);
}

TEST(ThreadTimes, CountsThreadsThatShareTheWork) {
  const std::map<pid_t, ThreadTimes> before = {{1, {100, 0}}, {2, {100, 50}}, {3, {0, 0}}};
  const std::map<pid_t, ThreadTimes> after = {
      {1, {1100, 10}}, {2, {900, 450}}, {3, {20, 5000}}, {4, {700, 100}}};
  const TeamTimes team = team_times(before, after);
  EXPECT_EQ(team.computing, 3);            // thread 3 only woke up once; thread 4 is new
  EXPECT_EQ(team.longest_wait_ns, 400.0);  // the wait of one that does nothing delays nobody
}

TEST(ThreadTimes, AProcessThatIsGoneHasNone) { EXPECT_TRUE(thread_times(0x3fffffff).empty()); }

}  // namespace
}  // namespace kforge
