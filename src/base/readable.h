// Numbers and foreign text as people read them on a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace kforge {

std::string readable_time(double ns);      // "812 ns", "3.42 ms", "1.2 s"
std::string readable_bytes(double bytes);  // "64 B", "1.5 MB" (powers of 1000)
std::string readable_count(double count);  // "950", "1.2 M", "137 G"
std::string readable_error(double value);  // "3.1e-07", "0"
std::string readable_ratio(double value);  // "1.31", "0.0042": never "0.00"

// Lines of at most `width` characters, broken at spaces; a longer word stays whole on a line of its own, so
// that paths and commands can be copied.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// Columns padded to a common width, two spaces apart; an 'r' at a column's place in `right` makes it flush
// right.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& right = "");

// The same in lines of at most `width` characters (0: however long). Rows that are too long are folded before
// column `fold` (0: nowhere), and what is still too long is broken in the last column.
std::string fitted_table(const std::vector<std::vector<std::string>>& rows, const std::string& right,
                         std::size_t width, std::size_t fold = 0);

// A command as lines of at most `width` characters that a shell reads as one: each but the last ends in a
// backslash. `words` are quoted where they need it.
std::vector<std::string> wrapped_command(const std::vector<std::string>& words, std::size_t width);

// Colours, or nothing when they are off.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string good(std::string_view text) const { return with("32;1", text); }
  std::string bad(std::string_view text) const { return with("31;1", text); }
  std::string warn(std::string_view text) const { return with("33", text); }
  std::string strong(std::string_view text) const { return with("1", text); }
  std::string faint(std::string_view text) const { return with("2", text); }

 private:
  std::string with(const char* code, std::string_view text) const;
  bool on_;
};

}  // namespace kforge
