// A suite as one page: pages/suite.mustache says what stands where.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/readable.h"
#include "plot/bars.h"
#include "plot/xy.h"
#include "report/page_parts.h"
#include "report/speedup_text.h"
#include "suite/side_by_side.h"
#include "suite/suite_report.h"
#include "suite/suite_tables.h"

namespace kforge {
namespace {

constexpr std::size_t kMostProblems = 400;  // in lists and drawings, over all parts
constexpr std::size_t kMostParts = 12;      // platforms and variants

std::string percent_tick(double share) { return fmt::format("{:.0f} %", 100 * share); }

XySeries curve_of(const std::string& name, const std::vector<Scored>& problems, bool by_interval, Tone tone) {
  XySeries series{name, XySeries::Shape::kSteps, tone};
  for (const FastStep& step : fast_curve(problems, by_interval))
    series.points.push_back({step.p, {step.share, step.share, step.share}});
  if (series.points.empty()) return series;
  // A log scale has no 0: the first step begins well below every ratio.
  series.points[0].x = series.points.size() > 1 ? std::min(0.25, series.points[1].x / 2) : 0.25;
  return series;
}

Markup fast_curves(const SuitePart& part) {
  std::vector<Scored> problems;
  for (const SuiteRecord& record : part.records)
    if (record.flagged().empty()) problems.push_back(record.scored(""));
  XyChart chart{.title = "fast_p: the share of problems that are correct and more than p times as fast",
                .x = {"p: times as fast as the fastest baseline present", ScaleKind::kLog, {0.5, 2}},
                .y = {.title = "share of problems", .reach = {0, 1}, .tick = percent_tick},
                .height = 240};
  chart.series.push_back(curve_of("by the point estimate", problems, false, Tone::kSecond));
  chart.series.push_back(curve_of("by the whole 95 % interval", problems, true, Tone::kBest));
  if (chart.series[0].points.empty()) return {};
  // Both begin where the lower one does: every share holds from 0 on.
  double first = chart.series[0].points[0].x;
  for (const XySeries& curve : chart.series)
    if (!curve.points.empty()) first = std::min(first, curve.points[0].x);
  for (XySeries& curve : chart.series)
    if (!curve.points.empty()) curve.points[0].x = first;
  chart.series.push_back(
      {"", XySeries::Shape::kLine, Tone::kFaint, {{1, {0, 0, 0}}, {1, {1, 1, 1}}}, false, true});
  return both_widths(chart);
}

Markup speedups(const SuitePart& part, std::size_t most) {
  std::vector<const SuiteRecord*> timed;
  for (const SuiteRecord& record : part.records)
    if (record.speedup && record.verified() && record.flagged().empty()) timed.push_back(&record);
  if (timed.empty()) return {};
  std::ranges::stable_sort(timed, std::greater{}, [](const SuiteRecord* r) { return r->speedup->value; });
  if (timed.size() > most) timed.resize(most);
  BarChart chart{.title = "speedup of every problem over the fastest baseline present, with 95 % intervals",
                 .axis_title = "times as fast as the fastest baseline present",
                 .scale = ScaleKind::kLog,
                 .origin = 1};
  for (const SuiteRecord* r : timed) {
    const Shown shown = shown_by(*r->speedup);
    chart.bars.push_back({short_line(r->task, 80), interval_text(*r->speedup), *r->speedup,
                          shown == Shown::kFaster   ? Tone::kGood
                          : shown == Shown::kSlower ? Tone::kBad
                                                    : Tone::kPlain});
  }
  return both_widths(chart);
}

PageData table_data(const std::string& title, const TextTable& table, const std::string& right,
                    std::size_t most) {
  PageData data;
  data.text("table_title", title).rows("heading").rows("lines").text("cut", "");
  auto kind = [&](std::size_t column) {
    return column < right.size() && right[column] == 'r' ? "number" : "free";
  };
  for (std::size_t i = 0; i < table[0].size(); ++i)
    data.row("heading", PageData().text("cell", table[0][i]).text("kind", kind(i)));
  for (std::size_t line = 1; line < std::min(table.size(), most + 1); ++line) {
    PageData row;
    row.rows("cells");
    for (std::size_t i = 0; i < table[line].size(); ++i)
      row.row("cells", PageData()
                           .text("cell", short_line(table[line][i], 200))
                           .text("kind", kind(i))
                           .text("column", i < table[0].size() ? table[0][i] : ""));
    data.row("lines", std::move(row));
  }
  if (table.size() > most + 1) data.text("cut", std::to_string(table.size() - most - 1));
  return data;
}

PageData part_data(const SuitePart& part, bool only_one, std::size_t most) {
  PageData data;
  data.text("part", only_one ? "" : part_title(part)).text("busy", busy_words(part)).rows("tables");
  data.markup("curves", fast_curves(part)).markup("speedups", speedups(part, most));
  for (const NamedTable& table : tables_of(part)) {
    if (table.table[0].back().empty()) continue;  // a drawing in letters: the page has better ones
    data.row("tables", table_data(table.title, table.table, table.right, most));
  }
  PageData tasks = table_data("", task_table(part.records), "lllrrlll", most);
  data.rows("tasks").row("tasks", std::move(tasks));
  return data;
}

// The most important figure of a part in a sentence.
std::string score_words(const Score& score) {
  if (score.problems == 0) return "No problem has finished yet";
  if (score.compared == 0)
    return fmt::format("{} of {} problems verified, none compared", score.correct, score.problems);
  return fmt::format("{} of {} problems verified; faster than the fastest baseline: {}; geometric mean {}",
                     score.correct, score.problems, share_text(score, 1), ratio_text(score.geometric_mean));
}

}  // namespace

PageData page_data(const SuiteReport& report) {
  PageData data;
  data.text("title", title_of(report)).text("about", summary_of(report));
  data.text("verdict", report.complete() ? "verified" : "unfinished").rows("headline_facts").rows("parts");
  data.text("words", report.parts.empty() ? "Nothing was asked for" : score_words(report.parts[0].score));
  auto line = [&](const std::string& text) {
    if (!text.empty()) data.row("headline_facts", PageData().text("line", text));
  };
  line(std::string(kFastPWords) + ".");
  line(unfinished_words(report));
  if (report.parts.size() > 1) line("The figure is of the first part: " + part_title(report.parts[0]) + ".");
  const std::size_t parts = std::min(report.parts.size(), kMostParts);
  for (std::size_t i = 0; i < parts; ++i)
    data.row("parts", part_data(report.parts[i], report.parts.size() == 1,
                                kMostProblems / std::max<std::size_t>(parts, 1)));
  data.text("parts_left_out", report.parts.size() > parts ? std::to_string(report.parts.size() - parts) : "");
  data.rows("ablations");
  for (const SideBySide& sides : ablation_sides(report))
    data.row("ablations", table_data("Ablation", side_by_side_table(sides), "llrrrrrr", kMostProblems));
  data.text("options", short_line(fmt::format("{}", fmt::join(report.plan.arguments, " ")), 400));
  data.text("suite_id", report.plan.id);
  return data;
}

Result<std::string> to_html(const SuiteReport& report) { return render_page("suite", page_data(report)); }

}  // namespace kforge
