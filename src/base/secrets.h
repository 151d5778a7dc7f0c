// Keys of services: read once, sent in one header, and seen nowhere else. A value that was made a Secret is
// taken out of every text that goes through without_secrets(), and out of the environment of every child.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

// A key. It has no way to be printed by accident: whoever needs its text says reveal().
class Secret {
 public:
  Secret() = default;
  // Remembers the value for without_secrets(), as long as the process lives.
  explicit Secret(std::string value);
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

// The text with every known key replaced by "[key]".
std::string without_known_secrets(std::string text);
// Also what only looks like one ("sk-...", "AIza...", "Bearer ..."): for texts of services, which repeat
// parts of a key they refuse.
std::string without_secrets(std::string text);

// Is this a variable that a child process must not see? By its name (..._API_KEY, ..._TOKEN, ...SECRET,
// ...PASSWORD) or because it holds a known key.
bool is_secret_variable(std::string_view name, std::string_view value);
// "NAME=value" of this process without the secret ones: what children inherit.
std::vector<std::string> environment_for_children();

}  // namespace kforge
