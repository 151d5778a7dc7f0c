#include "forge/wait_limit.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kforge {

WaitLimit::WaitLimit(const std::stop_token& user, std::optional<double> seconds)
    : on_user_(user, [this] { source_.request_stop(); }) {
  if (!seconds) return;
  constexpr double kLongest = 1e9;  // beyond what a clock can add
  std::chrono::duration<double> limit(std::clamp(*seconds, 0.0, kLongest));
  timer_ = std::jthread([this, limit](const std::stop_token& ended) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, ended, limit, [] { return false; });
    if (!ended.stop_requested()) source_.request_stop();
  });
}

}  // namespace kforge
