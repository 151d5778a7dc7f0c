// A suite on the terminal and in Markdown.
#include <fmt/ranges.h>

#include "base/readable.h"
#include "report/speedup_text.h"
#include "suite/suite.h"
#include "suite/suite_report.h"
#include "suite/suite_tables.h"

namespace kforge {
namespace {

const std::string kRight = "lrrrrrrr";

int busy_records(const SuitePart& part) {
  int count = 0;
  for (const SuiteRecord& record : part.records) count += record.busy;
  return count;
}

std::string left_out_words(const SideBySide& sides) {
  std::string text = fmt::format("on {} problems that all have finished", sides.sides.front().records.size());
  if (sides.left_out > 0) text += fmt::format(", {} left out (unfinished or flagged)", sides.left_out);
  return text;
}

}  // namespace

std::string title_of(const SuiteReport& report) {
  std::string text = fmt::format("suite {}  {}  {} tasks on {}", report.plan.id, printable(report.plan.name),
                                 report.plan.tasks.size(), fmt::join(report.plan.platforms, ", "));
  if (!report.plan.kernels.empty()) text += fmt::format(", kernels of {}", printable(report.plan.kernels));
  return text;
}

std::string summary_of(const SuiteReport& report) {
  std::string text = fmt::format("{} of {} done, {} in all", report.finished, report.plan.items(),
                                 readable_duration(report.seconds));
  if (report.tokens > 0)
    text += fmt::format(", {} tokens", readable_count(static_cast<double>(report.tokens)));
  if (report.dollars) text += fmt::format(", {:.2f} USD", *report.dollars);
  return text;
}

std::string part_title(const SuitePart& part) {
  return part.platform + (part.variant.empty() ? "" : ", " + part.variant);
}

std::vector<NamedTable> tables_of(const SuitePart& part) {
  std::vector<NamedTable> tables;
  tables.push_back({"", score_table("against", part.by_baseline), kRight});
  if (part.by_level.size() > 1)
    tables.push_back({"over the fastest present", score_table("level", part.by_level), kRight});
  if (part.by_family.size() > 1) tables.push_back({"", score_table("family", part.by_family), kRight});
  if (part.score.geometric_mean)
    tables.push_back({"speedups over the fastest present", distribution_table(part.score), "lrl"});
  if (auto flagged = flagged_table(part.records); flagged.size() > 1)
    tables.push_back(
        {"flagged: they say nothing about a kernel and are in no figure", std::move(flagged), ""});
  if (auto failed = failed_table(part.records); failed.size() > 1)
    tables.push_back({"without a verified program", std::move(failed), ""});
  return tables;
}

std::string busy_words(const SuitePart& part) {
  const int busy = busy_records(part);
  if (busy == 0) return "";
  return fmt::format("{} of {} were timed while the machine was busy", busy, part.records.size());
}

std::string unfinished_words(const SuiteReport& report) {
  return report.complete() ? ""
                           : fmt::format("unfinished: `kforge suite --resume {}` goes on", report.plan.id);
}

std::string to_terminal(const SuiteReport& report, const TerminalStyle& style) {
  Paint paint(style.colour);
  std::string text = paint.strong(title_of(report)) + "\n" + summary_of(report) + "\n";
  for (const SuitePart& part : report.parts) {
    if (report.parts.size() > 1) text += "\n" + paint.strong(part_title(part)) + "\n";
    for (const NamedTable& table : tables_of(part)) {
      text += "\n";
      if (!table.title.empty()) text += table.title + "\n";
      text += fitted_table(table.table, table.right, style.table_width, 2);
    }
    if (std::string busy = busy_words(part); !busy.empty()) text += "\n" + paint.warn(busy) + "\n";
  }
  for (const SideBySide& sides : ablation_sides(report))
    text += "\nablation, " + left_out_words(sides) + "\n" +
            fitted_table(side_by_side_table(sides), "llrrrrrr", style.table_width, 2);
  text += std::string("\n") + kFastPWords + "\n";
  if (std::string unfinished = unfinished_words(report); !unfinished.empty())
    text += paint.warn(unfinished) + "\n";
  if (!report.folder.empty())
    text += fmt::format("report  {}/report.html, report.md, report.json, report.csv\n", report.folder);
  return text;
}

std::string to_markdown(const SuiteReport& report) {
  std::string text = fmt::format("# {}\n\n{}. {}.\n", title_of(report), summary_of(report), kFastPWords);
  if (!report.plan.arguments.empty())
    text += fmt::format("\nOptions: `{}`\n", fmt::join(report.plan.arguments, " "));
  if (std::string unfinished = unfinished_words(report); !unfinished.empty())
    text += "\n" + unfinished + "\n";
  for (const SuitePart& part : report.parts) {
    text += fmt::format("\n## {}\n", part_title(part));
    for (const NamedTable& table : tables_of(part))
      text += "\n" + (table.title.empty() ? "" : table.title + ":\n\n") + markdown_table(table.table);
    if (std::string busy = busy_words(part); !busy.empty()) text += "\n" + busy + ".\n";
    text += "\n### Every task\n\n" + markdown_table(task_table(part.records));
  }
  for (const SideBySide& sides : ablation_sides(report))
    text += "\n## Ablation, " + left_out_words(sides) + "\n\n" + markdown_table(side_by_side_table(sides));
  return text;
}

std::string to_terminal(const SideBySide& both, const TerminalStyle& style) {
  Paint paint(style.colour);
  std::string text =
      fmt::format("A  {}\nB  {}\n{}\n\n", both.sides[0].name, both.sides[1].name, left_out_words(both));
  SideBySide short_names = both;
  short_names.sides[0].name = "A";
  short_names.sides[1].name = "B";
  text += fitted_table(side_by_side_table(short_names), "llrrrrrr", style.table_width, 2);
  TextTable table{{"problem", "A", "B", ""}};
  auto told = [](const SuiteRecord& r) {
    return r.speedup ? interval_text(*r.speedup) : std::string(r.verified() ? "verified" : r.outcome);
  };
  for (const SideDifference& one : differences(both))
    table.push_back(
        {printable(one.task), told(*one.a), told(*one.b), one.a_better ? "A is better" : "B is better"});
  if (table.size() == 1) return text + "\nno problem on which the intervals exclude each other\n";
  return text +
         fmt::format("\n{} problems on which they differ by more than their intervals:\n", table.size() - 1) +
         fitted_table(table, "", style.table_width, 2);
}

}  // namespace kforge
