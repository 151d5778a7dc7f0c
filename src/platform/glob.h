// Lists of patterns in platform files: names of symbols, flags, libraries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

// '*' stands for any characters, also none; everything else for itself.
bool glob_matches(std::string_view pattern, std::string_view text);

// True when a pattern matches and no pattern with a leading '!' does: "pthread_*", "!pthread_kill".
bool listed(const std::vector<std::string>& patterns, std::string_view text);

}  // namespace kforge
