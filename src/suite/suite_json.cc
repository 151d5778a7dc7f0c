// report.json and report.csv of a suite; docs/suites.md lists the fields.
#include <fmt/ranges.h>

#include <cmath>

#include "store/json_fields.h"
#include "suite/side_by_side.h"
#include "suite/suite_report.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

Json score_json(const Score& score) {
  Json fast = Json::array();
  for (std::size_t i = 0; i < score.fast.size(); ++i)
    fast.push_back({{"p", score.fast[i].p},
                    {"problems", score.fast[i].by_point},
                    {"share", score.share(i, false)},
                    {"problems_by_interval", score.fast[i].by_interval},
                    {"share_by_interval", score.share(i, true)}});
  Json distribution = Json::array();
  for (const SpeedupBucket& bucket : score.distribution)
    distribution.push_back({{"from", bucket.from},
                            {"below", std::isinf(bucket.below) ? Json(nullptr) : Json(bucket.below)},
                            {"problems", bucket.problems}});
  return {{"problems", score.problems},
          {"correct", score.correct},
          {"compared", score.compared},
          {"fast", fast},
          {"geometric_mean", json_of(score.geometric_mean)},
          {"median", json_of(score.median)},
          {"distribution", distribution}};
}

Json rows_json(const std::vector<ScoreRow>& rows) {
  Json list = Json::object();
  for (const ScoreRow& row : rows) list[row.name] = score_json(row.score);
  return list;
}

Json sides_json(const SideBySide& sides) {
  Json names = Json::array(), rows = Json::array();
  for (const Side& side : sides.sides) names.push_back(side.name);
  for (const SideRow& row : sides.rows) {
    Json scores = Json::array();
    for (const Score& score : row.scores) scores.push_back(score_json(score));
    rows.push_back({{"against", row.against}, {"scores", scores}});
  }
  return {{"sides", names},
          {"problems", sides.sides.front().records.size()},
          {"left_out", sides.left_out},
          {"rows", rows}};
}

Json part_json(const SuitePart& part) {
  Json flagged = Json::array(), tasks = Json::array();
  for (const SuiteRecord& record : part.records) {
    if (!record.flagged().empty()) flagged.push_back({{"task", record.task}, {"flag", record.flagged()}});
    tasks.push_back(Json::parse(to_json(record), nullptr, false));
  }
  return {{"platform", part.platform},
          {"variant", part.variant},
          {"score", score_json(part.score)},
          {"by_baseline", rows_json(part.by_baseline)},
          {"by_level", rows_json(part.by_level)},
          {"by_family", rows_json(part.by_family)},
          {"flagged", flagged},
          {"tasks", tasks}};
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string to_json(const SuiteReport& report) {
  Json parts = Json::array(), ablations = Json::array();
  for (const SuitePart& part : report.parts) parts.push_back(part_json(part));
  for (const SideBySide& sides : ablation_sides(report)) ablations.push_back(sides_json(sides));
  return dump(Json{{"schema", SuiteReport::kSchema},
                   {"suite", report.plan.id},
                   {"created_at", report.plan.created_at},
                   {"name", report.plan.name},
                   {"folder", report.folder},
                   {"platforms", report.plan.platforms},
                   {"arguments", report.plan.arguments},
                   {"kernels", report.plan.kernels.empty() ? Json(nullptr) : Json(report.plan.kernels)},
                   {"finished", report.finished},
                   {"of", report.plan.items()},
                   {"complete", report.complete()},
                   {"seconds", report.seconds},
                   {"tokens", report.tokens},
                   {"dollars", json_of(report.dollars)},
                   {"parts", parts},
                   {"ablations", ablations}},
              1);
}

std::string to_csv(const SuiteReport& report) {
  std::string text =
      "task,level,family,platform,variant,state,outcome,gate,time_ns,speedup,lo,hi,against,flags,busy,"
      "attempts,"
      "seconds,run,result,baseline,baseline_ns,baseline_speedup,baseline_lo,baseline_hi,reason\n";
  for (const SuitePart& part : report.parts)
    for (const SuiteRecord& r : part.records) {
      // A line for each baseline, so that a table program can choose one; a single line where there is none.
      std::vector<BaselineRatio> baselines = r.baselines;
      if (baselines.empty()) baselines.emplace_back();
      for (const BaselineRatio& b : baselines) {
        auto part_of = [](const std::optional<Speedup>& s, double Interval::*field) {
          return s ? fmt::format("{}", (*s).*field) : std::string();
        };
        const std::vector<std::string> cells = {r.task,
                                                r.level,
                                                r.family,
                                                r.platform,
                                                r.variant,
                                                std::string(name_of(r.state)),
                                                r.outcome,
                                                r.gate,
                                                number(r.time_ns),
                                                part_of(r.speedup, &Interval::value),
                                                part_of(r.speedup, &Interval::lo),
                                                part_of(r.speedup, &Interval::hi),
                                                r.speedup ? r.speedup->against : "",
                                                fmt::format("{}", fmt::join(r.flags, " ")),
                                                r.busy ? "1" : "0",
                                                std::to_string(r.attempts),
                                                fmt::format("{:.2f}", r.seconds),
                                                r.run,
                                                r.result,
                                                b.name,
                                                b.name.empty() ? "" : fmt::format("{}", b.ns),
                                                part_of(b.speedup, &Interval::value),
                                                part_of(b.speedup, &Interval::lo),
                                                part_of(b.speedup, &Interval::hi),
                                                r.reason};
        for (std::size_t i = 0; i < cells.size(); ++i) text += (i ? "," : "") + csv_cell(cells[i]);
        text += "\n";
      }
    }
  return text;
}

std::string to_json(const SideBySide& both) {
  Json json = {{"schema", "kforge.compare_suites/1"}};
  json.update(sides_json(both));
  Json list = Json::array();
  auto told = [](const SuiteRecord& r) {
    return Json{
        {"state", name_of(r.state)}, {"speedup", json_of(r.speedup)}, {"result", r.result}, {"run", r.run}};
  };
  for (const SideDifference& one : differences(both))
    list.push_back(
        {{"task", one.task}, {"better", one.a_better ? "a" : "b"}, {"a", told(*one.a)}, {"b", told(*one.b)}});
  json["differences"] = list;
  return dump(json, 1);
}

}  // namespace kforge
