// Comma-separated tables as profilers write them: quoted fields, lines of other text around the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // Column whose name begins so; nothing when there is none.
  std::optional<std::size_t> column(std::string_view start) const;
  std::string text(std::size_t row, std::optional<std::size_t> column) const;
  // "1,234.5" too; nothing for what is no number.
  std::optional<double> number(std::size_t row, std::optional<std::size_t> column) const;
};

// Every table of the text: a header is a line with at least three fields, one of which is `key`; its rows are
// the lines after it with as many fields. At most 100,000 rows in all.
std::vector<CsvTable> read_tables(std::string_view text, std::string_view key);

}  // namespace kforge
