// Ends the waits of a run (for models, for files somebody must write): when the user stops it, and when its
// seconds are used up.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace kforge {

class WaitLimit {
 public:
  // `seconds` from now on; nothing: only the user ends them.
  WaitLimit(const std::stop_token& user, std::optional<double> seconds);

  std::stop_token token() const { return source_.get_token(); }
  bool over() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_user_;
  std::jthread timer_;  // the last: it ends first
};

}  // namespace kforge
