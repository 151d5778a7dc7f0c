// The figures of a suite: from its records alone, so that one that is under way, was killed or has ended is
// shown the same way. Problems that say nothing about a kernel (vacuous, constant, stochastic) are in no
// figure; they are listed.
#pragma once

#include <string>
#include <vector>

#include "report/eval_terminal.h"
#include "report/page_template.h"
#include "suite/suite_folder.h"
#include "suite/suite_record.h"

namespace kforge {

// A line of a table: what is counted, and what came out.
struct ScoreRow {
  std::string name;  // "fastest present", "onednn", "level2", "convolution"
  Score score;
};

// One platform and variant.
struct SuitePart {
  std::string platform, variant;
  std::vector<SuiteRecord> records;  // in the order of the suite
  Score score;  // of all problems that are not flagged, over the fastest baseline present
  std::vector<ScoreRow> by_baseline, by_level, by_family;  // the last two over the fastest present
};

struct SuiteReport {
  static constexpr std::string_view kSchema = "kforge.suite/1";

  SuitePlan plan;
  std::string folder;
  std::size_t finished = 0;
  std::vector<SuitePart> parts;
  double seconds = 0;  // of all tasks
  std::int64_t tokens = 0;
  std::optional<double> dollars;

  bool complete() const { return finished == plan.items(); }
};

inline constexpr const char* kFastestPresent = "fastest present";

// The problems of a part that are not flagged, against a baseline by name or the fastest present ("").
Score score_against(const std::vector<SuiteRecord>& records, std::string_view baseline);

SuiteReport suite_report_of(const SuitePlan& plan, const std::vector<SuiteRecord>& records);
SuiteReport suite_report_of(const SuiteFolder& folder);

std::string to_terminal(const SuiteReport& report, const TerminalStyle& style);
std::string to_markdown(const SuiteReport& report);
std::string to_json(const SuiteReport& report);
std::string to_csv(const SuiteReport& report);  // a line for each task
// What pages/suite_parts.mustache shows.
PageData page_data(const SuiteReport& report);
// One file that needs nothing else. An Error: the folder pages/ is not there.
Result<std::string> to_html(const SuiteReport& report);
// report.json, report.csv, report.md and report.html in the folder of the suite.
Result<void> write_reports(const SuiteReport& report, const std::filesystem::path& folder);

}  // namespace kforge
