#include "generate/quote.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace kforge {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Zero-width, byte order mark, and the marks that turn text around: they hide what a program says.
bool invisible(std::uint32_t c) {
  return c == 0xFEFF || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x2069) || (c >= 0x80 && c <= 0x9F) || (c >= 0xE0000 && c <= 0xE007F);
}

// Bytes of a terminal escape sequence at the start of text, 0 when there is none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b') return 0;
  if (text[1] != '[') return 2;
  std::size_t end = 2;
  while (end < text.size() && end < 32 && (text[end] < '@' || text[end] > '~')) ++end;
  return std::min(end + 1, text.size());
}

std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0, run = 0;
  for (char each : text) longest = std::max(longest, run = each == c ? run + 1 : 0);
  return longest;
}

}  // namespace

std::string clean_text(std::string_view raw) {
  std::string clean;
  clean.reserve(raw.size());
  while (!raw.empty()) {
    if (std::size_t skipped = escape_length(raw)) {
      raw.remove_prefix(skipped);
      continue;
    }
    CodePoint c = first_code_point(raw);
    if (c.bytes == 0) {
      clean += kReplacement;
      raw.remove_prefix(1);
      continue;
    }
    bool line_end = c.value == '\n' || c.value == '\r';
    if (line_end) {
      bool pair = c.value == '\r' && raw.size() > 1 && raw[1] == '\n';
      clean += '\n';
      raw.remove_prefix(pair ? 2 : 1);
      continue;
    }
    bool control = (c.value < 0x20 && c.value != '\t') || c.value == 0x7F;
    if (!control && !invisible(c.value)) clean += raw.substr(0, c.bytes);
    raw.remove_prefix(c.bytes);
  }
  return clean;
}

std::string fenced(std::string_view text, std::string_view info) {
  std::string clean = clean_text(text);
  while (!clean.empty() && clean.back() == '\n') clean.pop_back();
  std::string fence(std::max<std::size_t>(3, longest_run(clean, '`') + 1), '`');
  return fmt::format("{}{}\n{}\n{}\n", fence, info, clean, fence);
}

std::string shorten(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return std::string(text);
  std::size_t cut = text.substr(0, limit_bytes).rfind('\n');
  cut = cut == std::string_view::npos ? 0 : cut + 1;
  std::string kept(text.substr(0, cut));
  // One endless line has no good place to be cut at.
  if (cut == 0) kept = clean_text(text.substr(0, limit_bytes)) + "\n";
  return kept +
         fmt::format("[... {} more bytes left out]\n", text.size() - std::min(text.size(), kept.size()));
}

std::string single_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (char c : clean_text(text.substr(0, 4 * limit + 64))) {
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() <= limit) return line;
  line.resize(limit > 3 ? limit - 3 : 0);
  while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0x80)) line.pop_back();
  return line + "...";
}

}  // namespace kforge
