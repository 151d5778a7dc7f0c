#include "suite/suite_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace kforge {
namespace {

// Baselines that at least one program was timed against.
std::vector<std::string> baselines_in(const std::vector<SuiteRecord>& records) {
  std::set<std::string> names;
  for (const SuiteRecord& record : records)
    for (const BaselineRatio& baseline : record.baselines)
      if (baseline.speedup) names.insert(baseline.name);
  return {names.begin(), names.end()};
}

std::vector<ScoreRow> rows_by(const std::vector<SuiteRecord>& records, std::string SuiteRecord::*group) {
  std::map<std::string, std::vector<SuiteRecord>> groups;
  for (const SuiteRecord& record : records) groups[record.*group].push_back(record);
  std::vector<ScoreRow> rows;
  for (const auto& [name, own] : groups)
    if (Score score = score_against(own, ""); score.problems > 0) rows.push_back({name, std::move(score)});
  return rows;
}

SuitePart part_of(std::string platform, std::string variant, std::vector<SuiteRecord> records) {
  SuitePart part{std::move(platform), std::move(variant), std::move(records)};
  part.score = score_against(part.records, "");
  part.by_baseline.push_back({kFastestPresent, part.score});
  for (const std::string& name : baselines_in(part.records))
    part.by_baseline.push_back({name, score_against(part.records, name)});
  part.by_level = rows_by(part.records, &SuiteRecord::level);
  part.by_family = rows_by(part.records, &SuiteRecord::family);
  return part;
}

}  // namespace

Score score_against(const std::vector<SuiteRecord>& records, std::string_view baseline) {
  std::vector<Scored> problems;
  for (const SuiteRecord& record : records)
    if (record.flagged().empty()) problems.push_back(record.scored(baseline));
  return score_of(problems);
}

SuiteReport suite_report_of(const SuitePlan& plan, const std::vector<SuiteRecord>& records) {
  SuiteReport report{.plan = plan, .finished = records.size()};
  for (const std::string& platform : plan.platforms)
    for (const SuiteVariant& variant : plan.variants) {
      std::vector<SuiteRecord> own;
      std::ranges::copy_if(records, std::back_inserter(own), [&](const SuiteRecord& record) {
        return record.platform == platform && record.variant == variant.name;
      });
      report.parts.push_back(part_of(platform, variant.name, std::move(own)));
    }
  for (const SuiteRecord& record : records) {
    report.seconds += record.seconds;
    report.tokens += record.tokens;
    if (record.dollars) report.dollars = report.dollars.value_or(0) + *record.dollars;
  }
  return report;
}

SuiteReport suite_report_of(const SuiteFolder& folder) {
  SuiteReport report = suite_report_of(folder.plan(), folder.records());
  report.folder = folder.path().string();
  return report;
}

Result<void> write_reports(const SuiteReport& report, const fs::path& folder) {
  KF_TRY_VOID(write_file_atomic(folder / "report.json", to_json(report) + "\n"));
  KF_TRY_VOID(write_file_atomic(folder / "report.csv", to_csv(report)));
  KF_TRY_VOID(write_file_atomic(folder / "report.md", to_markdown(report)));
  KF_TRY(std::string page, to_html(report));
  return write_file_atomic(folder / "report.html", page);
}

}  // namespace kforge
