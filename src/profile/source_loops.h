// Where the loops of a C++ source are, as far as its text shows: enough to tell an inner loop from the one
// around it. No parser: macros are not expanded, and what is no C++ gives no loops.
#pragma once

#include <string_view>
#include <vector>

namespace kforge {

struct SourceLoop {
  int line = 0;  // of its keyword, from 1
  bool innermost = true;
};

class SourceLoops {
 public:
  explicit SourceLoops(std::string_view source);
  // The smallest loop around this place (from 1); nullptr: none.
  const SourceLoop* around(int line, int column) const;
  std::size_t count() const { return spans_.size(); }

 private:
  struct Span {
    std::size_t begin = 0, end = 0;
    SourceLoop loop;
  };
  std::vector<std::size_t> line_starts_;
  std::vector<Span> spans_;
};

}  // namespace kforge
