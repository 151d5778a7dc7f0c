// Text that others wrote (programs, compiler messages, profilers, models) as an agent is shown it: readable,
// bounded, and between fences that nothing inside can close. It is data; no part of it is ever obeyed.
#pragma once

#include <string>
#include <string_view>

namespace kforge {

// Valid UTF-8 without control characters (but line ends and tabs), terminal escape sequences, or characters
// that are invisible or turn the direction of writing. CRLF and CR become LF.
std::string clean_text(std::string_view raw);

// Cleaned and between fences of at least three backticks, always longer than any run of backticks inside.
std::string fenced(std::string_view text, std::string_view info = "");

// The beginning, cut at a line end, with a line that says how much is missing; unchanged when it fits.
std::string shorten(std::string_view text, std::size_t limit_bytes);

// One line of at most `limit` bytes: line ends and runs of blanks become one blank.
std::string single_line(std::string_view text, std::size_t limit = 160);

}  // namespace kforge
