// Sessions of the older era: a client that has opened with `initialize` and comes back with an id.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "mcp/server.h"

namespace kforge::mcp {

class HttpSessions {
 public:
  using Clock = std::chrono::steady_clock;
  HttpSessions(std::size_t most, Clock::duration idle) : most_(most), idle_(idle) {}

  // Its id, which nobody can guess. Where there is no room, the session that has rested longest ends; empty:
  // all of them are at work.
  std::string open(std::shared_ptr<Server> server);
  // Null: there is none, or it has ended.
  std::shared_ptr<Server> find(const std::string& id);
  // False: there was none. Its calls are cancelled.
  bool close(const std::string& id);
  std::size_t size();

 private:
  struct Session {
    std::shared_ptr<Server> server;
    Clock::time_point last_used;
  };
  // REQUIRES: the mutex is held. Sessions that rested too long, or the one that rested longest, end.
  void end_idle();
  bool end_longest_idle();

  const std::size_t most_;
  const Clock::duration idle_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

}  // namespace kforge::mcp
