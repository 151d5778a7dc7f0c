#include "plot/markup.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace kforge {
namespace {

bool turns_direction(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool shown_by_number(std::uint32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F);
  const bool not_xml = c >= 0xFDD0 && (c <= 0xFDEF || (c & 0xFFFE) == 0xFFFE);
  return control || not_xml || turns_direction(c);
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.bytes == 0)
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (shown_by_number(c.value))
      safe += c.value < 0x100 ? fmt::format("\\x{:02x}", c.value) : fmt::format("\\u{:04x}", c.value);
    else if (c.value == '&')
      safe += "&amp;";
    else if (c.value == '<')
      safe += "&lt;";
    else if (c.value == '>')
      safe += "&gt;";
    else if (c.value == '"')
      safe += "&quot;";
    else if (c.value == '\'')
      safe += "&#39;";
    else
      safe += text.substr(0, c.bytes);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return safe;
}

Markup markup_of(std::string_view text) { return {escaped(text)}; }

std::string_view whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && !begins_character(text[most])) --most;
  return text.substr(0, most);
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  if (characters_in(text) <= most) return std::string(text);
  std::size_t kept = 0, end = 0;
  while (end < text.size() && kept + 1 < most) {
    ++end;
    while (end < text.size() && !begins_character(text[end])) ++end;
    ++kept;
  }
  return std::string(text.substr(0, end)) + (most > 0 ? "\u2026" : "");
}

}  // namespace kforge
