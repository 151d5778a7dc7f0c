// How much a page may hold. Replies, logs and kernels may be of any length; a report that is to be sent is
// not. Whatever is long asks here, and what is cut says so.
#pragma once

#include <cstddef>
#include <string_view>

#include "plot/markup.h"

namespace kforge {

class PageRoom {
 public:
  // Of all long texts together, as they stand in the page; what is around them takes about as much at the
  // most.
  static constexpr std::size_t kBytes = 800'000;

  explicit PageRoom(std::size_t bytes = kBytes) : bytes_(bytes), left_(bytes) {}

  // The beginning of `text`, escaped, in at most `most` bytes; where it is cut, a line says how much is
  // missing.
  Markup text(std::string_view text, std::size_t most);
  // Whether something of so many bytes still fits; if so, its room is taken.
  bool take(std::size_t bytes);
  std::size_t left() const { return left_; }
  std::size_t used() const { return bytes_ - left_; }

 private:
  std::size_t bytes_, left_;
};

// One line of a table: the first line of `text`, at most `most` characters of it.
std::string short_line(std::string_view text, std::size_t most = 160);

}  // namespace kforge
