#include "report/line_diff.h"

#include <algorithm>

#include "base/text.h"

namespace kforge {
namespace {

using SourceLines = std::vector<std::string_view>;
using Kind = DiffLine::Kind;

constexpr int kMostEdits = 1500;  // memory and time grow with its square

// Of a diagonal in a list of those from -most - 1 to most + 1.
std::size_t index_of(int diagonal, int most) {
  return static_cast<std::size_t>(diagonal) + static_cast<std::size_t>(most) + 1;
}

// Myers' greedy walk: after `edits` additions and removals, how far along each diagonal one can be.
std::optional<std::vector<DiffLine>> shortest_edit(const SourceLines& a, const SourceLines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, kMostEdits);
  std::vector<std::vector<int>> walks;  // the furthest places before each number of edits
  std::vector<int> furthest(2 * static_cast<std::size_t>(most) + 3, 0);
  auto at = [&](std::vector<int>& places, int diagonal) -> int& { return places[index_of(diagonal, most)]; };
  int edits = 0;
  for (bool arrived = false; !arrived; ++edits) {
    if (edits > most) return std::nullopt;
    // Only the diagonals that this number of edits can have reached are kept.
    walks.emplace_back(furthest.begin() + (most + 1 - edits - 1), furthest.begin() + (most + 1 + edits + 2));
    for (int k = -edits; k <= edits && !arrived; k += 2) {
      const bool down = k == -edits || (k != edits && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 &&
             a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      at(furthest, k) = x;
      arrived = x >= n && x - k >= m;
    }
  }
  std::vector<DiffLine> lines;
  int x = n, y = m;
  for (int d = edits - 1; d >= 0; --d) {
    const std::vector<int>& before = walks[static_cast<std::size_t>(d)];
    auto reached = [&](int diagonal) { return before[index_of(diagonal, d)]; };
    const int k = x - y;
    const bool down = k == -d || (k != d && reached(k - 1) < reached(k + 1));
    const int from_x = d == 0 ? 0 : down ? reached(k + 1) : reached(k - 1);
    const int from_y = d == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
    const int after_x = d == 0 ? 0 : down ? from_x : from_x + 1;
    while (x > after_x && y > (d == 0 ? 0 : down ? from_y + 1 : from_y)) {
      lines.push_back({Kind::kSame, a[static_cast<std::size_t>(--x)]});
      --y;
    }
    if (d == 0) break;
    if (down)
      lines.push_back({Kind::kAdded, b[static_cast<std::size_t>(from_y)]});
    else
      lines.push_back({Kind::kRemoved, a[static_cast<std::size_t>(from_x)]});
    x = from_x;
    y = from_y;
  }
  std::ranges::reverse(lines);
  return lines;
}

std::vector<DiffLine> near_changes(const std::vector<DiffLine>& lines, std::size_t context) {
  std::vector<bool> shown(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == Kind::kSame) continue;
    const std::size_t end = std::min(lines.size(), i + context + 1);
    for (std::size_t j = i > context ? i - context : 0; j < end; ++j) shown[j] = true;
  }
  std::vector<DiffLine> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shown[i])
      kept.push_back(lines[i]);
    else if (!kept.empty() && kept.back().kind == Kind::kSkipped)
      ++kept.back().skipped;
    else
      kept.push_back({Kind::kSkipped, {}, 1});
  }
  return kept;
}

}  // namespace

std::optional<std::vector<DiffLine>> line_diff(std::string_view before, std::string_view after,
                                               std::size_t context) {
  const SourceLines a = lines_of(before), b = lines_of(after);
  if (a.size() > 100'000 || b.size() > 100'000) return std::nullopt;
  auto lines = shortest_edit(a, b);
  if (!lines) return std::nullopt;
  const auto same = std::ranges::count(*lines, Kind::kSame, &DiffLine::kind);
  if (!a.empty() && !b.empty() && static_cast<std::size_t>(5 * same) < std::min(a.size(), b.size()))
    return std::nullopt;
  return near_changes(*lines, context);
}

}  // namespace kforge
