// The lines of a source that are comments by themselves: `//` in C and its kin, `#` in others. What stands in
// a block comment, a string or a raw string is none, though it may look like one.
#pragma once

#include <string_view>
#include <vector>

namespace kforge {

struct CommentLine {
  int line = 0;           // from 1
  std::string_view text;  // behind the mark; belongs to the source
};

// `mark` is what begins a comment in the source's language; behind any but "//" a line is a comment when it
// begins with it.
std::vector<CommentLine> comment_lines(std::string_view source, std::string_view mark = "//");

}  // namespace kforge
