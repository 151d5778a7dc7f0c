// The server: connections within limits, requests past the guard to the handlers of a table. cpp-httplib
// reads and writes HTTP; nothing outside of server.cc sees it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "serve/guard.h"
#include "serve/limits.h"
#include "serve/router.h"

namespace kforge::serve {

class Server {
 public:
  struct Settings {
    std::string address = "127.0.0.1";
    int port = 0;  // 0: any that is free
    bool read_only = false;
    std::string token;  // empty: drawn
    Limits limits = {};
  };
  // Binds; answers nothing yet. An Error names what is in the way.
  static Result<std::unique_ptr<Server>> bind(Settings settings);
  ~Server();

  // REQUIRES: before start(). A page's JSON twin is the same route: Asked::json says which is wanted.
  void mount(Route route);
  // Answers on threads of its own until stop().
  void start();
  // Ends at once: connections are closed, streams are told, handlers under way are waited for.
  void stop();

  int port() const;
  const Guard& guard() const;

 private:
  class Http;
  Server();
  std::unique_ptr<Http> http_;
};

}  // namespace kforge::serve
