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
std::string readable_ratio(double value) {
  return value >= 0.095 || value <= 0 ? fmt::format("{:.2f}", value) : fmt::format("{:.2g}", value);
}

std::string readable_error(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::size_t next = end + 1;
    if (end > width) {
      std::size_t word = std::min(text.find_first_not_of(' '), end);
      std::size_t space = text.rfind(' ', width);
      if (space == std::string_view::npos || space < word) space = text.find(' ', word);
      end = std::min(space, end);
      next = end + 1;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(next, text.size()));
  }
  return lines;
}

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t most = 0;
  for (const std::string& line : lines) most = std::max(most, columns(line));
  return most;
}

// Each row as the lines it takes: one, or more where its last cell is broken to make it fit `width` (0:
// never).
std::vector<std::vector<std::string>> rows_in_lines(const Rows& rows, const std::string& right,
                                                    std::size_t width) {
  constexpr std::size_t kLeast = 16;  // narrower than that no sentence can be read
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
  std::vector<std::vector<std::string>> all;
  for (const auto& row : rows) {
    std::string line;
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i];
      bool flush_right = i < right.size() && right[i] == 'r';
      if (width > 0 && i + 1 == widths.size() && !flush_right) {
        rest = wrap(cell, width > before_last + kLeast ? width - before_last : kLeast);
        cell = rest.empty() ? "" : rest.front();
      }
      std::string gap(widths[i] - columns(cell), ' ');
      line += (i ? "  " : "") + (flush_right ? gap + cell : cell + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::vector<std::string>& lines = all.emplace_back();
    lines.push_back(std::move(line));
    for (std::size_t i = 1; i < rest.size(); ++i) lines.push_back(std::string(before_last, ' ') + rest[i]);
  }
  return all;
}

}  // namespace

std::string table(const Rows& rows, const std::string& right) {
  std::string text;
  for (const auto& lines : rows_in_lines(rows, right, 0)) text += lines.front() + "\n";
  return text;
}

std::string fitted_table(const Rows& rows, const std::string& right, std::size_t width, std::size_t fold) {
  std::size_t most = 0;
  for (const auto& lines : rows_in_lines(rows, right, 0)) most = std::max(most, widest(lines));
  if (width == 0 || most <= width) return table(rows, right);
  std::string text;
  if (fold == 0) {
    for (const auto& lines : rows_in_lines(rows, right, width))
      for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  constexpr std::size_t kIndent = 4;
  Rows heads, tails;
  for (const auto& row : rows) {
    auto at = row.begin() + static_cast<std::ptrdiff_t>(std::min(fold, row.size()));
    heads.emplace_back(row.begin(), at);
    tails.emplace_back(at, row.end());
  }
  auto head_lines = rows_in_lines(heads, right.substr(0, fold), width);
  auto tail_lines = rows_in_lines(tails, right.size() > fold ? right.substr(fold) : "", width - kIndent);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& line : head_lines[i]) text += line + "\n";
    for (const std::string& line : tail_lines[i])
      if (!line.empty()) text += std::string(kIndent, ' ') + line + "\n";
  }
  return text;
}

std::vector<std::string> wrapped_command(const std::vector<std::string>& words, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    std::string quoted = shell_quoted(word);
    if (lines.empty() || columns(lines.back()) + columns(quoted) + 3 > width)
      lines.push_back(lines.empty() ? quoted : "  " + quoted);
    else
      lines.back() += " " + quoted;
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += " \\";
  return lines;
}

std::string Paint::with(const char* code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace kforge
