#include "judge/torch_only.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace kforge {
namespace {

constexpr std::array<std::string_view, 8> kForeign = {
    "cpp_extension", "load_inline", "triton", "ctypes", "cffi", "numba", "cupy", "load_library"};

// Line by line, what stands before a comment. A '#' in a string hides what follows it: then a kernel is
// overlooked, which costs it a flag and nothing else.
bool names_something_foreign(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, std::min(text.find('#'), end));
    if (std::ranges::any_of(kForeign, [&](std::string_view word) { return line.find(word) != line.npos; }))
      return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

bool calls_only_torch(const Candidate& candidate) {
  return std::ranges::none_of(candidate.files,
                              [](const SourceFile& file) { return names_something_foreign(file.content); });
}

}  // namespace kforge
