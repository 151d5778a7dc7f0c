// Which handler answers: a table of paths. A path is a list of words; "*" stands for one word, "**" at the
// end for all that follow. No regular expressions: addresses are strangers' text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/asked.h"

namespace kforge::serve {

// What a request must bring along.
enum class Access : std::uint8_t {
  kAnyone,  // style sheets, the way to log in
  kRead,    // nothing on loopback; the token on any other address
  kChange,  // always the token, and from a browser the form's own word (CSRF)
};

using Handler = std::function<Answer(const Asked&)>;

struct Route {
  std::string method;  // "GET", "POST", "DELETE"
  std::string path;    // "/runs/*"
  Access access = Access::kRead;
  Handler handler;
};

class Router {
 public:
  void mount(Route route) { routes_.push_back(std::move(route)); }

  struct Match {
    const Route* route = nullptr;
    std::vector<std::string> parts;
  };
  // Nothing: there is no such page. A match without a route: there is one, and it takes other methods.
  std::optional<Match> find(std::string_view method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace kforge::serve
