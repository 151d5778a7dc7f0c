// Places where a program says that something is left out ("// ... rest unchanged"): such a file is not a
// program.
#pragma once

#include <optional>
#include <string_view>

namespace kforge {

struct ElidedLine {
  int number = 0;  // from 1
  std::string_view text;
};

// The first such line. Only whole comments count: dots in a sentence, "...", variadic templates are fine.
std::optional<ElidedLine> elided_line(std::string_view code);

}  // namespace kforge
