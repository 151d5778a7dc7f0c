#include "profile/csv.h"

#include <algorithm>
#include <charconv>

namespace kforge {
namespace {

constexpr std::size_t kMostRows = 100'000, kMostFields = 5'000;

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"', ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted && fields.size() < kMostFields) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) {
    std::size_t first = std::min(field.find_first_not_of(' '), field.size());
    field = field.substr(first, field.find_last_not_of(' ') - first + 1);
  }
  return fields;
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view start) const {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i].starts_with(start)) return i;
  return std::nullopt;
}

std::string CsvTable::text(std::size_t row, std::optional<std::size_t> column) const {
  return column && *column < rows[row].size() ? rows[row][*column] : "";
}

std::optional<double> CsvTable::number(std::size_t row, std::optional<std::size_t> column) const {
  std::string digits = text(row, column);
  std::erase(digits, ',');
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || (end != digits.data() + digits.size() && *end != '%'))
    return std::nullopt;
  return value;
}

std::vector<CsvTable> read_tables(std::string_view text, std::string_view key) {
  std::vector<CsvTable> tables;
  std::size_t rows = 0;
  bool inside = false;  // a line of another form ends a table: what follows belongs to the next one
  while (!text.empty() && rows < kMostRows) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string> fields = fields_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.size() >= 3 && std::ranges::find(fields, key) != fields.end()) {
      tables.push_back({std::move(fields), {}});
      inside = true;
    } else if (inside && fields.size() == tables.back().header.size()) {
      tables.back().rows.push_back(std::move(fields));
      ++rows;
    } else {
      inside = false;
    }
  }
  return tables;
}

}  // namespace kforge
