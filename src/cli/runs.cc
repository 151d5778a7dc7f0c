// kforge runs: the suites and the newest runs, one line each. A suite is one line, however many runs it made.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/eval_terminal.h"
#include "store/runs.h"
#include "suite/suite_report.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct RunsArguments {
  std::string task, suite;
  std::size_t limit = 20;
  bool json = false;
};

RunActivity doing(RunRecords& records, const StoredRun& run) {
  auto asked = records.waiting_for(run.id);
  return activity_of(run, records.held(run.id), asked && asked->has_value());
}

// The suite that a run belongs to, by where it writes; null: none.
const SuiteFolder* suite_of(const StoredRun& run, const std::vector<SuiteFolder>& suites) {
  auto out = run.options.find("out");
  const auto* folder = out == run.options.end() ? nullptr : std::get_if<std::string>(&out->second);
  if (!folder) return nullptr;
  auto found = std::ranges::find_if(suites, [&](const SuiteFolder& suite) {
    return folder->starts_with((suite.path() / "runs").string() + "/");
  });
  return found == suites.end() ? nullptr : &*found;
}

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

std::string state_of(const SuiteFolder& suite, const SuiteReport& report) {
  return suite.held() ? "running" : report.complete() ? "finished" : "stopped";
}

Json suite_json(const SuiteFolder& suite) {
  const SuiteReport report = suite_report_of(suite);
  return {{"id", suite.plan().id},
          {"created_at", suite.plan().created_at},
          {"name", suite.plan().name},
          {"platforms", suite.plan().platforms},
          {"state", state_of(suite, report)},
          {"finished", report.finished},
          {"of", suite.plan().items()},
          {"folder", suite.path().string()}};
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
    lines.push_back({suite.plan().id, printable(suite.plan().name), state_of(suite, report),
                     fmt::format("{} of {}", report.finished, suite.plan().items()), std::to_string(verified),
                     minute_of(suite.plan().created_at)});
  }
  fmt::print("{}\n", fitted_table(lines, "", terminal_style().table_width, 2));
}

Json row_json(const StoredRun& run, RunActivity activity, const SuiteFolder* suite) {
  return {{"id", run.id},
          {"suite", suite ? Json(suite->plan().id) : Json(nullptr)},
          {"created_at", run.created_at},
          {"task", run.task},
          {"shape_set", run.shape_set},
          {"platform", run.platform},
          {"precision", run.precision},
          {"generator", run.generator},
          {"analyst", run.analyst},
          {"strategy", run.strategy},
          {"state", name_of(run.state)},
          {"activity", name_of(activity)},
          {"ended", run.ended ? Json(name_of(*run.ended)) : Json(nullptr)},
          {"best", run.best ? Json(*run.best) : Json(nullptr)},
          {"speedup", run.speedup ? Json(*run.speedup) : Json(nullptr)},
          {"against", run.against.empty() ? Json(nullptr) : Json(run.against)},
          {"folder", run.folder.empty() ? Json(nullptr) : Json(run.folder)}};
}

// Why it has ended, else what it is doing.
std::string state_of(const StoredRun& run, RunActivity activity) {
  return std::string(activity == RunActivity::kFinished && run.ended ? name_of(*run.ended)
                                                                     : name_of(activity));
}

std::string outcome_of(const StoredRun& run) {
  if (run.speedup) return fmt::format("{}x over {}", readable_ratio(*run.speedup), run.against);
  if (run.best) return "verified";
  return run.state == RunState::kFinished ? "nothing verified" : "";
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
      list.push_back(row_json(stored, doing(**records, stored), suite_of(stored, *suites)));
    for (const SuiteFolder& suite : *suites) of_suites.push_back(suite_json(suite));
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
    lines.push_back({stored.id, printable(stored.task), state_of(stored, doing(**records, stored)),
                     outcome_of(stored), minute_of(stored.created_at), short_name(stored.generator)});
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
