// Search/replace edits: how a model changes a long file without sending all of it.
//   <<<<<<< SEARCH
//   lines as they stand in the file
//   =======
//   lines that take their place
//   >>>>>>> REPLACE
// All edits of a file apply, or none does. Each must match exactly one place.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct Edit {
  std::string_view search, replace;
};

inline constexpr std::size_t kMostEdits = 200;

// True when a line of the text is a SEARCH marker (5 to 9 '<', then SEARCH).
bool has_edits(std::string_view text);

// An error is a sentence for the agent: which marker is missing.
std::expected<std::vector<Edit>, std::string> parse_edits(std::string_view text);

// The file after all edits, or a message for the agent: which edit matched nothing or several places, and
// what the file has instead. Blanks at line ends do not matter; a uniform difference in indentation is
// accepted.
std::expected<std::string, std::string> apply_edits(std::string_view file, const std::vector<Edit>& edits);

}  // namespace kforge
