// kforge runs: the suites and the newest runs, one line each. A suite is one line, however many runs it made.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/eval_terminal.h"
#include "store/runs.h"
#include "suite/run_list.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct RunsArguments {
  std::string task, suite;
  std::size_t limit = 20;
  bool json = false;
};

// Those of one suite, of one task, or of no suite at all.
Result<std::vector<StoredRun>> wanted_runs(RunRecords& records, const RunsArguments& arguments,
                                           const std::vector<SuiteFolder>& suites) {
  constexpr std::size_t kMost = 100'000;
  std::string suite;
  if (!arguments.suite.empty()) {
    KF_TRY(SuiteFolder asked, SuiteFolder::find(arguments.suite));
    suite = asked.plan().id;
  }
  const bool all = suites.empty() || (suite.empty() && !arguments.task.empty());
  KF_TRY(auto runs, records.latest(arguments.task, all ? arguments.limit : kMost));
  if (all) return runs;
  std::erase_if(runs, [&](const StoredRun& run) {
    const SuiteFolder* own = suite_of(run, suites);
    return (own ? own->plan().id : "") != suite;
  });
  if (runs.size() > arguments.limit) runs.resize(arguments.limit);
  return runs;
}

void print_suites(const std::vector<SuiteFolder>& suites, std::size_t limit) {
  if (suites.empty()) return;
  std::vector<std::vector<std::string>> lines{{"suite", "tasks", "state", "done", "verified", "when"}};
  for (const SuiteFolder& suite : suites) {
    if (lines.size() > limit) break;
    const SuiteReport report = suite_report_of(suite);
    int verified = 0;
    for (const SuitePart& part : report.parts)
      for (const SuiteRecord& record : part.records) verified += record.verified();
    lines.push_back({suite.plan().id, printable(suite.plan().name), state_words(suite, report),
                     fmt::format("{} of {}", report.finished, suite.plan().items()), std::to_string(verified),
                     minute_of(suite.plan().created_at)});
  }
  fmt::print("{}\n", fitted_table(lines, "", terminal_style().table_width, 2));
}

// Addresses and folders make long names; JSON has them whole.
std::string short_name(const std::string& generator) {
  constexpr std::size_t kMost = 20;
  std::string name = printable(generator);
  return name.size() <= kMost ? name : "..." + name.substr(name.size() - kMost + 3);
}

int run(const RunsArguments& arguments) {
  auto records = RunRecords::open();
  if (!records) return report_error(records.error(), arguments.json);
  auto suites = SuiteFolder::all();
  if (!suites) return report_error(suites.error(), arguments.json);
  auto runs = wanted_runs(**records, arguments, *suites);
  if (!runs) return report_error(runs.error(), arguments.json);
  if (arguments.json) {
    Json list = Json::array(), of_suites = Json::array();
    for (const StoredRun& stored : *runs)
      list.push_back(to_json(stored, activity_of(**records, stored), suite_of(stored, *suites)));
    for (const SuiteFolder& suite : *suites) of_suites.push_back(to_json(suite, suite_report_of(suite)));
    fmt::print("{}\n", Json{{"schema", "kforge.runs/1"}, {"suites", of_suites}, {"runs", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
    return kExitPassed;
  }
  if (arguments.task.empty() && arguments.suite.empty()) print_suites(*suites, arguments.limit);
  if (runs->empty()) {
    fmt::print("no runs{}\n", arguments.task.empty() ? " yet; `kforge forge` makes one" : " of this task");
    return kExitPassed;
  }
  std::vector<std::vector<std::string>> lines{{"run", "task", "state", "result", "when", "generator"}};
  for (const StoredRun& stored : *runs)
    lines.push_back({stored.id, printable(stored.task), state_words(stored, activity_of(**records, stored)),
                     outcome_words(stored), minute_of(stored.created_at), short_name(stored.generator)});
  fmt::print("{}", fitted_table(lines, "", terminal_style().table_width, 2));
  return kExitPassed;
}

}  // namespace

void declare_runs(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<RunsArguments>();
  add_value(command, "--task", arguments->task, "NAME", "only of this task");
  add_value(command, "--suite", arguments->suite, "ID", "the runs of a suite, which the list leaves out");
  add_number(command, "-n,--limit", arguments->limit, std::size_t{1}, std::size_t{1'000'000},
             "at most this many");
  command.add_flag("--json", arguments->json, "as JSON");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
