#include "base/readable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

struct Unit {
  double size;
  const char* name;
};

// Three significant digits of the value in the largest unit that fits.
std::string in_units(double value, std::initializer_list<Unit> units, const char* smallest) {
  for (const Unit& unit : units) {
    if (std::abs(value) < unit.size * 0.9995) continue;
    double scaled = value / unit.size;
    int digits = std::abs(scaled) >= 99.95 ? 0 : std::abs(scaled) >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", scaled, digits, unit.name);
  }
  return fmt::format("{:.0f}{}", value, smallest);
}

// Characters a terminal shows, not bytes: continuation bytes of UTF-8 take no column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string readable_time(double ns) { return in_units(ns, {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}, " ns"); }
std::string readable_bytes(double bytes) {
  return in_units(bytes, {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}, " B");
}
std::string readable_count(double count) {
  return in_units(count, {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}, "");
}
std::string readable_error(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::size_t next = end + 1;
    if (end > width) {
      std::size_t space = text.rfind(' ', width);
      end = space == std::string_view::npos || space == 0 ? width : space;
      next = end == space ? end + 1 : end;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(next, text.size()));
  }
  return lines;
}

std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string gap(widths[i] - columns(row[i]), ' ');
      bool flush_right = i < right.size() && right[i] == 'r';
      line += (i ? "  " : "") + (flush_right ? gap + row[i] : row[i] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Paint::with(const char* code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace kforge
