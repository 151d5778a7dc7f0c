#include "forge/available_agents.h"

namespace kforge {

std::optional<int> AvailableAgents::working(int generator) const {
  std::lock_guard lock(mutex_);
  auto count = failed_.size();
  for (std::size_t step = 0; step < count; ++step) {
    std::size_t next = (static_cast<std::size_t>(generator) + step) % count;
    if (!failed_[next]) return static_cast<int>(next);
  }
  return std::nullopt;
}

bool AvailableAgents::set_aside(int generator, const Error& why) {
  std::lock_guard lock(mutex_);
  auto& place = failed_.at(static_cast<std::size_t>(generator));
  last_ = why;
  if (place) return false;
  place = why;
  return true;
}

std::optional<Error> AvailableAgents::failure(int generator) const {
  std::lock_guard lock(mutex_);
  return failed_.at(static_cast<std::size_t>(generator));
}

Error AvailableAgents::last_failure() const {
  std::lock_guard lock(mutex_);
  KF_CHECK(last_.has_value(), "no generator has failed");
  return *last_;
}

}  // namespace kforge
