#include "serve/router.h"

#include "base/text.h"

namespace kforge::serve {
namespace {

// What the stars stood for; nothing: the path is another one.
std::optional<std::vector<std::string>> matched(const std::vector<std::string>& pattern,
                                                const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == "**") {
      std::string rest;
      for (std::size_t j = i; j < words.size(); ++j) rest += (j > i ? "/" : "") + words[j];
      if (rest.empty()) return std::nullopt;
      parts.push_back(std::move(rest));
      return parts;
    }
    if (i >= words.size()) return std::nullopt;
    if (pattern[i] == "*") {
      if (words[i].empty()) return std::nullopt;
      parts.push_back(words[i]);
    } else if (pattern[i] != words[i]) {
      return std::nullopt;
    }
  }
  if (words.size() != pattern.size()) return std::nullopt;
  return parts;
}

}  // namespace

std::optional<Router::Match> Router::find(std::string_view method, std::string_view path) const {
  const std::vector<std::string> words = parts_of(path, '/');
  bool known = false;
  for (const Route& route : routes_) {
    auto parts = matched(parts_of(route.path, '/'), words);
    if (!parts) continue;
    if (route.method == method) return Match{&route, std::move(*parts)};
    known = true;
  }
  if (known) return Match{};
  return std::nullopt;
}

}  // namespace kforge::serve
