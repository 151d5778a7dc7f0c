// Text that files, services and programs gave, in pieces: what several folders do with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

// ASCII letters only; other bytes stay.
std::string lower_case(std::string_view text);

// As one word of a shell's command line: quoted where a shell would read more than the text itself.
std::string shell_quoted(std::string_view text);

// The lines without their line feeds. A line feed at the very end begins no further line.
std::vector<std::string_view> lines_of(std::string_view text);
// "a,,b" at commas: "a", "", "b". At least one part, which may be empty.
std::vector<std::string> parts_of(std::string_view text, char at);

// The character that `text` starts with. bytes is 0 where that is not valid UTF-8.
// REQUIRES: text is not empty.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};
CodePoint first_code_point(std::string_view text);

// Invalid UTF-8 becomes U+FFFD; NUL characters go.
std::string valid_utf8(std::string_view bytes);

// For terminals and logs: whatever is not valid UTF-8, and control characters but line feeds and tabs, as
// \x1b.
std::string printable(std::string_view text);

}  // namespace kforge
