#include "mcp/http_sessions.h"

#include <fmt/format.h>

#include "base/random_seed.h"

namespace kforge::mcp {

std::string HttpSessions::open(std::shared_ptr<Server> server) {
  std::lock_guard lock(mutex_);
  end_idle();
  if (sessions_.size() >= most_ && !end_longest_idle()) return "";
  const std::string id = fmt::format("{:016x}{:016x}", random_seed(), random_seed());
  sessions_[id] = {std::move(server), Clock::now()};
  return id;
}

std::shared_ptr<Server> HttpSessions::find(const std::string& id) {
  std::lock_guard lock(mutex_);
  end_idle();
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  found->second.last_used = Clock::now();
  return found->second.server;
}

bool HttpSessions::close(const std::string& id) {
  std::shared_ptr<Server> ended;  // whose calls are waited for without holding up others
  {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    ended = std::move(found->second.server);
    sessions_.erase(found);
  }
  ended->cancel_all();
  return true;
}

std::size_t HttpSessions::size() {
  std::lock_guard lock(mutex_);
  end_idle();
  return sessions_.size();
}

void HttpSessions::end_idle() {
  std::erase_if(sessions_, [this](const auto& entry) {
    return !entry.second.server->has_calls() && Clock::now() - entry.second.last_used >= idle_;
  });
}

bool HttpSessions::end_longest_idle() {
  auto oldest = sessions_.end();
  for (auto one = sessions_.begin(); one != sessions_.end(); ++one)
    if (!one->second.server->has_calls() &&
        (oldest == sessions_.end() || one->second.last_used < oldest->second.last_used))
      oldest = one;
  if (oldest == sessions_.end()) return false;
  sessions_.erase(oldest);
  return true;
}

}  // namespace kforge::mcp
