// The tables of a suite as rows of text: the terminal and Markdown show the same.
#pragma once

#include <string>
#include <vector>

#include "suite/side_by_side.h"
#include "suite/suite_report.h"

namespace kforge {

using TextTable = std::vector<std::vector<std::string>>;  // the first row is the heading

// "75 % [60 %]": by the point estimate, and by the whole interval.
std::string share_text(const Score& score, std::size_t which);
std::string ratio_text(const std::optional<double>& ratio);  // "1.31x", "-"

TextTable score_table(const std::string& heading, const std::vector<ScoreRow>& rows);
TextTable distribution_table(const Score& score);
// Of the problems that are in no figure, with the reason; and of those without a verified program.
TextTable flagged_table(const std::vector<SuiteRecord>& records);
TextTable failed_table(const std::vector<SuiteRecord>& records);
TextTable side_by_side_table(const SideBySide& sides);
// A line for each.
TextTable task_table(const std::vector<SuiteRecord>& records);

std::string markdown_table(const TextTable& table);

// The tables of a part in the order they are shown, and the words around them.
struct NamedTable {
  std::string title;
  TextTable table;
  std::string right;  // as for fitted_table()
};
std::vector<NamedTable> tables_of(const SuitePart& part);
std::string title_of(const SuiteReport& report);
std::string summary_of(const SuiteReport& report);
std::string part_title(const SuitePart& part);
std::string busy_words(const SuitePart& part);            // "" for a quiet machine
std::string unfinished_words(const SuiteReport& report);  // "" for one that is complete

// What a share is of and what the brackets mean.
inline constexpr const char* kFastPWords =
    "fast_p: correct and more than p times as fast; in brackets: with the whole 95 % interval above p";

}  // namespace kforge
