#include "generate/elision.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/text.h"

namespace kforge {
namespace {

// What a line that is nothing but a comment says; "" otherwise.
std::string_view comment_of(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("//")) return trimmed(line.substr(2));
  if (line.starts_with("/*") && line.ends_with("*/") && line.size() >= 4)
    return trimmed(line.substr(2, line.size() - 4));
  if (line.starts_with("# ")) return trimmed(line.substr(2));
  return {};
}

bool says_left_out(std::string_view comment) {
  std::string text;
  for (char c : comment.substr(0, 120))
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  bool dots = text.starts_with("...") || text.starts_with("\xE2\x80\xA6") || text.starts_with("[...");
  bool dots_after = text.ends_with("...") || text.ends_with("\xE2\x80\xA6");
  for (std::string_view phrase :
       {"rest of the code", "rest unchanged", "rest of code", "rest is unchanged", "remains unchanged",
        "existing code", "same as before", "previous code", "code unchanged", "unchanged code",
        "rest of the file", "rest of the kernel", "omitted for brevity", "remaining code"})
    if (text.find(phrase) != std::string::npos && (dots || dots_after || text.size() <= phrase.size() + 12))
      return true;
  return text == "..." || text == "\xE2\x80\xA6" || text == "[...]";
}

}  // namespace

std::optional<ElidedLine> elided_line(std::string_view code) {
  for (int number = 1; !code.empty(); ++number) {
    std::size_t end = std::min(code.find('\n'), code.size());
    std::string_view line = code.substr(0, end);
    code.remove_prefix(std::min(end + 1, code.size()));
    std::string_view comment = comment_of(line.substr(0, 400));
    if (!comment.empty() && says_left_out(comment)) return ElidedLine{number, trimmed(line)};
  }
  return std::nullopt;
}

}  // namespace kforge
