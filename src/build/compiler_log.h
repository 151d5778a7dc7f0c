// A compiler's output, cut down to what helps whoever repairs the program: errors before warnings, each
// message once, with its source line and caret, without the walk through templates and the folders of this
// machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

inline constexpr std::size_t kLogBytes = 4096;

// `hidden` are path prefixes that are taken out wherever they stand ("/tmp/kforge-x/src/").
std::string trim_compiler_log(std::string_view raw, const std::vector<std::string>& hidden,
                              std::size_t limit = kLogBytes);

}  // namespace kforge
