#include "base/nearest.h"

#include <fmt/core.h>

#include <algorithm>

namespace kforge {
namespace {
// Longer words are hostile or not words; comparing their beginnings keeps the table small.
constexpr std::size_t kLongestWord = 128;
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestWord);
  b = b.substr(0, kLongestWord);
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& other : known) {
    bool prefix = word.size() >= 3 && other.starts_with(word);
    std::size_t distance = prefix ? 1 : edit_distance(word, other);
    if (distance <= std::max<std::size_t>(1, std::min(word.size(), other.size()) / 3))
      scored.emplace_back(distance, other);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (std::size_t i = 0; i < std::min(count, scored.size()); ++i)
    result.push_back(std::move(scored[i].second));
  return result;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string> near = nearest_words(word, known, 1);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near[0]);
}

}  // namespace kforge
