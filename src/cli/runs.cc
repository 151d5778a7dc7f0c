// kforge runs: the store's newest runs, one line each.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/eval_terminal.h"
#include "store/runs.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct RunsArguments {
  std::string task;
  std::size_t limit = 20;
  bool json = false;
};

RunActivity doing(RunRecords& records, const StoredRun& run) {
  auto asked = records.waiting_for(run.id);
  return activity_of(run, records.held(run.id), asked && asked->has_value());
}

Json row_json(const StoredRun& run, RunActivity activity) {
  return {{"id", run.id},
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
  auto runs = (*records)->latest(arguments.task, arguments.limit);
  if (!runs) return report_error(runs.error(), arguments.json);
  if (arguments.json) {
    Json list = Json::array();
    for (const StoredRun& stored : *runs) list.push_back(row_json(stored, doing(**records, stored)));
    fmt::print("{}\n", Json{{"schema", "kforge.runs/1"}, {"runs", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
    return kExitPassed;
  }
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
  add_number(command, "-n,--limit", arguments->limit, std::size_t{1}, std::size_t{1'000'000},
             "at most this many");
  command.add_flag("--json", arguments->json, "as JSON");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
