// One gate for all calls with the same key in this process: when the service tells one of them to slow down,
// all of them do. How many calls are open at once is halved by each such answer and grows again with each
// success.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace kforge {

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RateLimiter(int most_open) : most_open_(most_open), open_limit_(most_open) {}

  // The one of this service and key; made on first use, kept as long as somebody has it. `most_open` of the
  // first caller counts; 0: no limit but a sane one.
  static std::shared_ptr<RateLimiter> of(const std::string& service, const std::string& key, int most_open);

  // Waits until a call may start. False: stopped meanwhile.
  bool enter(const std::stop_token& stop, const std::function<void(double seconds)>& on_wait);
  enum class Answer { kGood, kTooFast, kOther };
  void leave(Answer answer);
  // Nobody starts before that.
  void pause(double seconds);

  int open_limit() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int most_open_, open_limit_;
  int open_ = 0;
  Clock::time_point not_before_{};
};

// Sleeps; false when stopped meanwhile.
bool sleep_for(double seconds, const std::stop_token& stop);

// Waiting time before try number `next_try` (2 is the first retry): doubles from `base`, at most `cap`, drawn
// evenly from nothing to that; what the service stated is the least.
double backoff_seconds(int next_try, double base, double cap, double stated, double random_0_to_1);

}  // namespace kforge
