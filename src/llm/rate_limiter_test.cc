#include "llm/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kforge {
namespace {

using Answer = RateLimiter::Answer;

TEST(RateLimiter, IsSharedByServiceAndKey) {
  auto one = RateLimiter::of("https://a", "key", 4);
  EXPECT_EQ(RateLimiter::of("https://a", "key", 9), one);
  EXPECT_NE(RateLimiter::of("https://a", "other", 4), one);
  EXPECT_NE(RateLimiter::of("https://b", "key", 4), one);
}

TEST(RateLimiter, HalvesWhenTooFastAndGrowsWithSuccess) {
  RateLimiter limiter(8);
  std::stop_token never;
  auto call = [&](Answer answer) {
    ASSERT_TRUE(limiter.enter(never, {}));
    limiter.leave(answer);
  };
  call(Answer::kTooFast);
  EXPECT_EQ(limiter.open_limit(), 4);
  call(Answer::kTooFast);
  call(Answer::kTooFast);
  call(Answer::kTooFast);
  EXPECT_EQ(limiter.open_limit(), 1);
  for (int i = 0; i < 20; ++i) call(Answer::kGood);
  EXPECT_EQ(limiter.open_limit(), 8);
}

TEST(RateLimiter, HoldsBackWhatIsTooMany) {
  RateLimiter limiter(2);
  std::atomic<int> open = 0, most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      ASSERT_TRUE(limiter.enter({}, {}));
      int now = ++open;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --open;
      limiter.leave(Answer::kOther);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

TEST(RateLimiter, AStopEndsTheWait) {
  RateLimiter limiter(1);
  limiter.pause(3600);
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(limiter.enter(stop.get_token(), {}));
  stopper.join();
  EXPECT_FALSE(sleep_for(3600, stop.get_token()));
}

TEST(Backoff, DoublesUpToItsCapAndObeysTheService) {
  EXPECT_EQ(backoff_seconds(2, 1, 60, 0, 1.0), 1);
  EXPECT_EQ(backoff_seconds(3, 1, 60, 0, 1.0), 2);
  EXPECT_EQ(backoff_seconds(5, 1, 60, 0, 0.5), 4);
  EXPECT_EQ(backoff_seconds(50, 1, 60, 0, 1.0), 60);
  EXPECT_EQ(backoff_seconds(2, 1, 60, 20, 0.0), 20);
  EXPECT_GT(backoff_seconds(2, 1, 60, 20, 1.0), 20);
}

}  // namespace
}  // namespace kforge
