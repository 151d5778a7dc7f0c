#include "suite/suite_tables.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/readable.h"
#include "report/speedup_text.h"

namespace kforge {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string first_line(const std::string& text) { return printable(text.substr(0, text.find('\n'))); }

// A '|' would end a cell.
std::string cell(const std::string& text) {
  std::string safe;
  for (char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

}  // namespace

std::string share_text(const Score& score, std::size_t which) {
  if (kFastP[which] == 0) return percent(score.share(which, false));
  if (score.compared == 0) return "-";
  return fmt::format("{} [{}]", percent(score.share(which, false)), percent(score.share(which, true)));
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? readable_ratio(*ratio) + "x" : "-";
}

TextTable score_table(const std::string& heading, const std::vector<ScoreRow>& rows) {
  TextTable table{{heading, "problems", "fast_0", "fast_1", "fast_1.5", "fast_2", "geomean", "median"}};
  for (const ScoreRow& row : rows) {
    const Score& score = row.score;
    std::string problems = std::to_string(score.problems);
    if (score.compared < score.problems) problems = fmt::format("{} of {}", score.compared, score.problems);
    table.push_back({printable(row.name), problems, share_text(score, 0), share_text(score, 1),
                     share_text(score, 2), share_text(score, 3), ratio_text(score.geometric_mean),
                     ratio_text(score.median)});
  }
  return table;
}

TextTable distribution_table(const Score& score) {
  TextTable table{{"speedup", "problems", ""}};
  int most = 1;
  for (const SpeedupBucket& bucket : score.distribution) most = std::max(most, bucket.problems);
  for (const SpeedupBucket& bucket : score.distribution)
    table.push_back({bucket_name(bucket), std::to_string(bucket.problems),
                     std::string(static_cast<std::size_t>((30 * bucket.problems + most - 1) / most), '#')});
  return table;
}

TextTable flagged_table(const std::vector<SuiteRecord>& records) {
  TextTable table{{"problem", "flag", "state"}};
  for (const SuiteRecord& record : records)
    if (!record.flagged().empty())
      table.push_back({printable(record.task), record.flagged(), std::string(name_of(record.state))});
  return table;
}

TextTable failed_table(const std::vector<SuiteRecord>& records) {
  TextTable table{{"problem", "state", "reason"}};
  for (const SuiteRecord& record : records) {
    if (record.verified() || !record.flagged().empty()) continue;
    std::string state = record.state == TaskState::kError ? "error" : record.outcome;
    if (!record.gate.empty()) state += " (" + record.gate + ")";
    table.push_back({printable(record.task), state, first_line(record.reason)});
  }
  return table;
}

TextTable task_table(const std::vector<SuiteRecord>& records) {
  TextTable table{{"task", "family", "state", "time", "speedup", "against", "flags", "result"}};
  for (const SuiteRecord& r : records)
    table.push_back({printable(r.task), r.family, std::string(name_of(r.state)),
                     r.time_ns ? readable_time(*r.time_ns) : "", r.speedup ? interval_text(*r.speedup) : "",
                     r.speedup ? r.speedup->against : "", fmt::format("{}", fmt::join(r.flags, " ")),
                     r.run.empty() ? r.result : r.run});
  return table;
}

TextTable side_by_side_table(const SideBySide& sides) {
  TextTable table{{"against", "", "fast_0", "fast_1", "fast_1.5", "fast_2", "geomean", "median"}};
  for (const SideRow& row : sides.rows)
    for (std::size_t i = 0; i < sides.sides.size(); ++i) {
      const Score& score = row.scores[i];
      table.push_back({i == 0 ? row.against : "", printable(sides.sides[i].name), share_text(score, 0),
                       share_text(score, 1), share_text(score, 2), share_text(score, 3),
                       ratio_text(score.geometric_mean), ratio_text(score.median)});
    }
  return table;
}

std::string markdown_table(const TextTable& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (const std::string& one : table[i]) text += "| " + cell(one) + " ";
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t column = 0; column < table[0].size(); ++column) text += "|---";
    text += "|\n";
  }
  return text;
}

}  // namespace kforge
