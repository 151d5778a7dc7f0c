// The fenced blocks of a reply, found line by line. Fences as Markdown has them: three or more backticks or
// tildes, indented by at most three blanks; a block ends at a line with at least as many of the same
// character and nothing else, so shorter fences inside are content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct ReplyBlock {
  std::string_view info;     // what stands behind the opening fence: "cpp path=kernel.cc"
  std::string_view before;   // the last line of prose before it, for names written there
  std::string_view content;  // without the fences
  bool closed = true;        // false: the text ended first, or another block began
};

struct ReplyScan {
  std::vector<ReplyBlock> blocks;
  std::string_view prose;  // everything before the first block
  bool too_many = false;   // more than kMostBlocks: nothing was kept
};

inline constexpr std::size_t kMostBlocks = 2'000;

// Views point into `text`. Blocks tagged "markdown" are looked into.
ReplyScan scan_blocks(std::string_view text);

}  // namespace kforge
