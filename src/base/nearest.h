// Which known word a misspelt one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known words nearest to `word`, best first, at most `count`; words too far from it to be meant are left
// out.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t count = 3);

// " (did you mean 'flags'?)", or "" where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace kforge
