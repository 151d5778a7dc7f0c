#include "llm/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.h"

namespace kforge {
namespace {

constexpr int kMostOpen = 256;

std::chrono::steady_clock::duration of_seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

std::shared_ptr<RateLimiter> RateLimiter::of(const std::string& service, const std::string& key,
                                             int most_open) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::map<std::string, std::weak_ptr<RateLimiter>>;
  std::string name = service + " " + sha256_hex(key);
  std::lock_guard lock(*mutex);
  std::weak_ptr<RateLimiter>& known = (*all)[name];
  if (auto limiter = known.lock()) return limiter;
  auto limiter = std::make_shared<RateLimiter>(most_open > 0 ? most_open : kMostOpen);
  known = limiter;
  return limiter;
}

bool RateLimiter::enter(const std::stop_token& stop, const std::function<void(double)>& on_wait) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return false;
    double pause = std::chrono::duration<double>(not_before_ - Clock::now()).count();
    if (pause <= 0 && open_ < open_limit_) break;
    if (pause > 0) {
      if (on_wait) {
        lock.unlock();
        on_wait(pause);
        lock.lock();
      }
      Clock::time_point until = not_before_;
      changed_.wait_until(lock, stop, until, [&] { return not_before_ > until; });
    } else {
      changed_.wait(lock, stop, [&] { return open_ < open_limit_ || not_before_ > Clock::now(); });
    }
  }
  ++open_;
  return true;
}

void RateLimiter::leave(Answer answer) {
  {
    std::lock_guard lock(mutex_);
    --open_;
    if (answer == Answer::kTooFast) open_limit_ = std::max(1, open_limit_ / 2);
    if (answer == Answer::kGood) open_limit_ = std::min(most_open_, open_limit_ + 1);
  }
  changed_.notify_all();
}

void RateLimiter::pause(double seconds) {
  {
    std::lock_guard lock(mutex_);
    not_before_ = std::max(not_before_, Clock::now() + of_seconds(seconds));
  }
  changed_.notify_all();
}

int RateLimiter::open_limit() const {
  std::lock_guard lock(mutex_);
  return open_limit_;
}

bool sleep_for(double seconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, of_seconds(seconds), [] { return false; });
  return !stop.stop_requested();
}

double backoff_seconds(int next_try, double base, double cap, double stated, double random_0_to_1) {
  double most = std::min(cap, base * std::pow(2.0, std::max(0, next_try - 2)));
  if (stated > 0) return stated + random_0_to_1 * std::min(most, stated * 0.25);
  return random_0_to_1 * most;
}

}  // namespace kforge
