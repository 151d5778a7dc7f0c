// Text that a browser may get as it stands. Everything a report shows was written by strangers (kernels,
// replies, names, profiles), so what is not Markup is escaped, and only code that escapes makes Markup.
#pragma once

#include <string>
#include <string_view>

namespace kforge {

struct Markup {
  std::string text;

  bool empty() const { return text.empty(); }
  Markup& operator+=(const Markup& more) {
    text += more.text;
    return *this;
  }
};

// For the content of elements and for quoted attributes of HTML and SVG. Bytes that are no UTF-8, control
// characters, and characters that turn the direction of writing (which would let a program read other than it
// is) become visible.
std::string escaped(std::string_view text);
Markup markup_of(std::string_view text);

// As many of the first characters as fit into `most` bytes, never half of one.
std::string_view whole_characters(std::string_view text, std::size_t most);
std::size_t characters_in(std::string_view text);
// At most `most` characters, the last of them an ellipsis where some were left out.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace kforge
