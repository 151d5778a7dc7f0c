// What became of a text, line by line: what a program has that its parent had not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kforge {

struct DiffLine {
  enum class Kind : std::uint8_t { kSame, kAdded, kRemoved, kSkipped };
  Kind kind = Kind::kSame;
  std::string_view text;    // of one of the two texts
  std::size_t skipped = 0;  // lines that are the same in both and not shown
};

// The fewest added and removed lines, with `context` lines around them. Nothing: the two have next to nothing
// in common, and a list of all lines of both would say no more. The lines live as long as the texts.
std::optional<std::vector<DiffLine>> line_diff(std::string_view before, std::string_view after,
                                               std::size_t context = 3);

}  // namespace kforge
