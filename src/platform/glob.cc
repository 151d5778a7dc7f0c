#include "platform/glob.h"

namespace kforge {

// Keeps only the last star to come back to: enough for '*', and linear in practice.
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool listed(const std::vector<std::string>& patterns, std::string_view text) {
  bool found = false;
  for (std::string_view pattern : patterns) {
    if (pattern.starts_with('!')) {
      if (glob_matches(pattern.substr(1), text)) return false;
    } else if (!found) {
      found = glob_matches(pattern, text);
    }
  }
  return found;
}

}  // namespace kforge
