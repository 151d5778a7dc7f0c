// kforge compare: two stored programs, their verdicts, their times in one run, the difference of their
// sources; or two suites on the tasks that both have finished.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "judge/compare_results.h"
#include "report/progress.h"
#include "report/speedup_text.h"
#include "suite/side_by_side.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct CompareArguments {
  CompareRequest request;
  bool no_time = false, no_diff = false, json = false;
};

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"value", interval->value}, {"lo", interval->lo}, {"hi", interval->hi}};
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json program_json(const NamedProgram& program, const std::optional<Interval>& ns) {
  return {{"result", or_null(program.result)},
          {"run", program.run ? Json(program.run->id) : Json(nullptr)},
          {"attempt", program.attempt ? Json(program.attempt->number) : Json(nullptr)},
          {"task", or_null(program.task())},
          {"kernel", {{"path", program.kernel()}, {"hash", program.program.hash}}},
          {"outcome", or_null(program.outcome())},
          {"gate", or_null(program.gate())},
          {"time_ns", interval_json(ns)}};
}

// What the ratio shows, a before b.
std::string verdict_on(const ProgramComparison& c) {
  const Interval& ratio = *c.ratio;
  if (ratio.lo > 1) return fmt::format("A is {:.2f} times as fast as B", ratio.value);
  if (ratio.hi < 1) return fmt::format("B is {:.2f} times as fast as A", 1 / ratio.value);
  return "the interval holds 1: no difference was shown";
}

std::string to_json(const ProgramComparison& c) {
  return Json{{"schema", "kforge.compare/1"},
              {"a", program_json(c.a, c.a_ns)},
              {"b", program_json(c.b, c.b_ns)},
              {"ratio", interval_json(c.ratio)},
              {"shown", c.ratio ? Json(c.ratio->lo > 1   ? "faster"
                                       : c.ratio->hi < 1 ? "slower"
                                                         : "no_difference")
                                : Json(nullptr)},
              {"not_timed", c.not_timed.empty() ? Json(nullptr) : Json(c.not_timed)},
              {"same_program", c.same_program},
              {"diff", c.diff}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string outcome_of(const NamedProgram& program) {
  const std::string outcome = program.outcome(), gate = program.gate();
  if (outcome.empty()) return "not judged";
  return gate.empty() ? outcome : fmt::format("{} at {}", outcome, gate);
}

std::string time_of(const std::optional<Interval>& ns) {
  if (!ns) return "-";
  return fmt::format("{}  [{}, {}]", readable_time(ns->value), readable_time(ns->lo), readable_time(ns->hi));
}

std::string painted_diff(const std::string& diff, const Paint& paint) {
  std::string text;
  for (std::string_view line : lines_of(diff)) {
    std::string safe = printable(line);
    text += (safe.starts_with("+")   ? paint.good(safe)
             : safe.starts_with("-") ? paint.bad(safe)
                                     : safe) +
            "\n";
  }
  return text;
}

std::string to_terminal(const ProgramComparison& c, bool with_diff) {
  TerminalStyle style = terminal_style();
  Paint paint(style.colour);
  auto name = [](const NamedProgram& p) {
    if (p.attempt) return fmt::format("attempt {} of run {}", p.attempt->number, p.run->id);
    if (p.run) return fmt::format("{} (run {})", p.result, p.run->id);
    return p.result.empty() ? "kernel " + p.program.hash.substr(0, 12) : p.result;
  };
  std::string text =
      fmt::format("{}  {}\n\n", paint.strong(printable(c.a.task())), c.a.report ? c.a.report->shape_set : "");
  text += fitted_table({{"", "A", "B"},
                        {"  result", name(c.a), name(c.b)},
                        {"  kernel", printable(c.a.kernel()), printable(c.b.kernel())},
                        {"  verdict", outcome_of(c.a), outcome_of(c.b)},
                        {"  time now", time_of(c.a_ns), time_of(c.b_ns)}},
                       "", style.table_width);
  text += "\n";
  std::string words = c.ratio ? fmt::format("{}: {:.2f}x [{:.2f}, {:.2f}], timed in turns", verdict_on(c),
                                            c.ratio->value, c.ratio->lo, c.ratio->hi)
                              : "not timed: " + c.not_timed;
  for (const std::string& line : wrap(words, static_cast<std::size_t>(style.width) - 2))
    text += "  " + line + "\n";
  if (c.same_program) return text + "  the sources are the same\n";
  return with_diff ? text + "\n" + painted_diff(c.diff, paint) : text;
}

// Nothing: neither is a suite.
std::optional<Result<SideBySide>> suites_of(const CompareRequest& request) {
  auto suite = [](const std::string& which) {
    return which == "last" ? Result<SuiteFolder>(fail("a result")) : SuiteFolder::find(which);
  };
  auto a = suite(request.a), b = suite(request.b);
  if (!a && !b) return std::nullopt;
  if (!a || !b)
    return fail_with_remedy(
        "name two suites, or two results or runs",
        fmt::format("{} is a suite, and {} is none", a ? request.a : request.b, a ? request.b : request.a));
  return compare_suites(suite_report_of(*a), suite_report_of(*b));
}

int run(CompareArguments& arguments) {
  if (auto suites = suites_of(arguments.request)) {
    if (!*suites) return report_error(suites->error(), arguments.json);
    fmt::print("{}", arguments.json ? to_json(**suites) + "\n" : to_terminal(**suites, terminal_style()));
    return kExitPassed;
  }
  arguments.request.timed = !arguments.no_time;
  clean_up_on_interrupt();
  auto progress = make_progress(arguments.json);
  auto comparison = compare_results(arguments.request, *progress);
  progress->finish();
  if (!comparison) return report_error(comparison.error(), arguments.json);
  if (arguments.json)
    fmt::print("{}\n", to_json(*comparison));
  else
    fmt::print("{}", to_terminal(*comparison, !arguments.no_diff));
  return kExitPassed;
}

}  // namespace

void declare_compare(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<CompareArguments>();
  command
      .add_option(
          "A", arguments->request.a,
          "result, run or suite: id, or a prefix that fits only one; an attempt: RUN:NUMBER; a kernel: "
          "the hash of its files")
      ->required();
  command.add_option("B", arguments->request.b, "the other one")->required();
  add_number(command, "--seconds", arguments->request.seconds, 0.0, 3600.0, "time for the timing rounds");
  command.add_flag("--no-time", arguments->no_time, "time nothing");
  command.add_flag("--no-diff", arguments->no_diff, "leave the difference of the sources out");
  command.add_flag("--json", arguments->json, "as JSON");
  command.footer(
      "Both programs are run in turns, so that a busy moment meets both; A goes through the gates again "
      "first.\n"
      "Times need the same task, platform and shapes. Such as:  kforge compare 2mg 2mh --no-time\n"
      "Two suites are put side by side on the tasks that both have finished.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
