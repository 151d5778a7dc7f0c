// When a program is too late with its answer. What it waited for a processor that others had is not its own
// time: beside busy processes a team of threads that meet at barriers may take a thousand times as long as
// alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kforge {

class CallDeadline {
 public:
  using Clock = std::chrono::steady_clock;
  CallDeadline(Clock::time_point start, std::chrono::milliseconds limit)
      : at_(start + limit), latest_(start + kMostPatience * limit) {}

  Clock::time_point at() const { return at_; }

  // The deadline has passed, and of all the program's threads the one that waited longest did so for
  // `waited_ns` since the program began: whether to go on waiting, until the new at().
  bool extend(double waited_ns) {
    const auto more = std::chrono::nanoseconds(static_cast<std::int64_t>(waited_ns)) - granted_;
    const Clock::time_point later = std::min(at_ + more, latest_);
    if (later < at_ + kWorthWaiting) return false;
    granted_ += more;
    at_ = later;
    return true;
  }

 private:
  static constexpr int kMostPatience = 10;
  static constexpr std::chrono::milliseconds kWorthWaiting{20};
  Clock::time_point at_, latest_;
  std::chrono::nanoseconds granted_{};
};

}  // namespace kforge
