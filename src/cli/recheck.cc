// kforge recheck: does a stored verdict follow from its evidence, and does it happen again?
#include "judge/recheck.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "report/eval_terminal.h"
#include "report/progress.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct RecheckArguments {
  std::string result, python;
  bool json = false, quiet = false;
};

std::string to_json(const Recheck& check) {
  return Json{{"schema", "kforge.recheck/1"},
              {"confirmed", check.confirmed()},
              {"task_unchanged", check.task_unchanged},
              {"same_machine", check.same_machine},
              {"figures_follow", check.figures_follow},
              {"same_outcome", check.same_outcome},
              {"times_overlap", check.times_overlap},
              {"speedups_comparable", check.speedups_comparable},
              {"speedups_overlap", check.speedups_overlap},
              {"stored", Json::parse(to_json(check.stored))},
              {"again", Json::parse(to_json(check.again))}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string time_text(const EvalReport& report) {
  if (!report.time_ns) return "-";
  return fmt::format("{}  [{}, {}]", readable_time(report.time_ns->value), readable_time(report.time_ns->lo),
                     readable_time(report.time_ns->hi));
}

std::string speedup_text(const EvalReport& report) {
  if (!report.speedup) return "-";
  return fmt::format("{}x  [{}x, {}x] over {}", readable_ratio(report.speedup->value),
                     readable_ratio(report.speedup->lo), readable_ratio(report.speedup->hi),
                     report.speedup->against);
}

std::string to_terminal(const Recheck& check, const Paint& paint) {
  auto outcome = [](const EvalReport& report) {
    return report.gate ? fmt::format("{} at {}", name_of(report.outcome), report.gate_name())
                       : std::string(name_of(report.outcome));
  };
  std::string text = fmt::format("{}  {}  result {}\n\n", paint.strong(check.stored.task),
                                 check.stored.shape_set, check.stored.result_id);
  text += "  " + (check.confirmed() ? paint.good("CONFIRMED") : paint.bad("NOT CONFIRMED")) + "\n\n";
  text += fitted_table({{"", "stored", "again"},
                        {"  outcome", outcome(check.stored), outcome(check.again)},
                        {"  time", time_text(check.stored), time_text(check.again)},
                        {"  speedup", speedup_text(check.stored), speedup_text(check.again)}},
                       "", terminal_style().table_width);
  text += "\n";
  auto say = [&](bool good, const char* yes, const char* no) {
    text += fmt::format("  {}\n", good ? yes : paint.warn(no));
  };
  if (!check.task_unchanged)
    say(false, "", "the task has changed since: the kernel was judged on the task as it is now");
  if (!check.same_machine) say(false, "", "this is another machine: times are not comparable");
  say(check.figures_follow, "the stored figures follow from the stored samples",
      "the stored figures do NOT follow from the stored samples");
  say(check.same_outcome, "the outcome is the same", "the outcome is different");
  if (check.stored.time_ns && check.again.time_ns && check.same_machine)
    say(check.times_overlap, "the intervals of the time overlap", "the intervals of the time do not overlap");
  if (check.speedups_comparable)
    say(check.speedups_overlap, "the intervals of the speedup overlap",
        "the intervals of the speedup do not overlap");
  else if (check.stored.speedup)
    say(false, "", "the speedups are against different baselines: not comparable");
  return text;
}

int run(const RecheckArguments& arguments) {
  clean_up_on_interrupt();
  auto progress = make_progress(arguments.json || arguments.quiet);
  auto check = recheck(arguments.result, arguments.python, *progress);
  progress->finish();
  if (!check) return report_error(check.error(), arguments.json);
  if (arguments.json)
    fmt::print("{}\n", to_json(*check));
  else if (!arguments.quiet)
    fmt::print("{}", to_terminal(*check, Paint(terminal_style().colour)));
  return check->confirmed() ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_recheck(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<RecheckArguments>();
  command.add_option("RESULT", arguments->result, "id, a prefix that fits only one, or \"last\"")->required();
  add_value(command, "--python", arguments->python, "PATH", "Python that has the baselines' libraries");
  command.add_flag("--json", arguments->json, "as JSON");
  command.add_flag("-q,--quiet", arguments->quiet, "print nothing; the exit code tells");
  command.footer("Exit code: 0 confirmed, 1 not confirmed, 2 wrong usage or something is missing.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
