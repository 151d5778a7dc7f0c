// kforge results: the store's newest verdicts, one line each.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/eval_terminal.h"
#include "report/speedup_text.h"
#include "store/eval_report.h"
#include "store/row_json.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

// The file and the folder it lies in tell kernels apart; JSON has the whole path.
std::string kernel_name(const fs::path& path, std::size_t most) {
  std::string name = printable(
      path.has_parent_path() ? (path.parent_path().filename() / path.filename()).string() : path.string());
  return name.size() <= most ? name : "..." + name.substr(name.size() - most + 3);
}

// A narrow terminal has no room for whose time it is; JSON and `kforge show` tell.
std::string short_speedup(const ResultRow& row) {
  const std::string text = speedup_text(row);
  return text.substr(0, text.find(" over "));
}

int run(const ResultFilter& filter, bool json) {
  auto store = Store::open();
  if (!store) return report_error(store.error(), json);
  auto rows = store->latest_results(filter);
  if (!rows) return report_error(rows.error(), json);
  if (json) {
    Json list = Json::array();
    for (const ResultRow& row : *rows) list.push_back(to_json(row));
    fmt::print("{}\n", Json{{"schema", "kforge.results/1"}, {"results", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
    return kExitPassed;
  }
  if (rows->empty()) {
    fmt::print("no results{}\n",
               filter.task.empty() && filter.outcome.empty() ? " yet; `kforge eval` makes one" : " that fit");
    return kExitPassed;
  }
  const std::size_t width = terminal_style().table_width;
  const bool narrow = width > 0 && width < 100;  // ids tell the order; JSON tells the time
  std::vector<std::vector<std::string>> lines{
      {"result", "task", "shapes", "outcome", "time", "speedup", "kernel"}};
  if (!narrow) lines.front().emplace_back("when");
  for (const ResultRow& row : *rows) {
    lines.push_back({row.id, printable(row.task), row.shape_set,
                     row.gate.empty() ? row.outcome : row.outcome + " (" + row.gate + ")",
                     row.time_ns ? readable_time(*row.time_ns) : "",
                     narrow ? short_speedup(row) : speedup_text(row),
                     kernel_name(row.kernel, narrow ? 15 : 60)});
    if (!narrow) lines.back().push_back(minute_of(row.created_at));
  }
  fmt::print("{}", fitted_table(lines, "llllr", width, 3));
  return kExitPassed;
}

}  // namespace

void declare_results(CLI::App& command, int& exit_code) {
  auto filter = std::make_shared<ResultFilter>();
  auto json = std::make_shared<bool>(false);
  add_value(command, "--task", filter->task, "NAME", "only of this task");
  add_choice(command, "--outcome", filter->outcome,
             {"passed", "no_program", "compile_error", "crash", "timeout", "wrong_shape", "wrong_value",
              "rejected", "not_verifiable"},
             "is");
  add_number(command, "-n,--limit", filter->limit, std::size_t{1}, std::size_t{1'000'000},
             "at most this many");
  command.add_flag("--json", *json, "as JSON");
  command.callback([filter, json, &exit_code] { exit_code = run(*filter, *json); });
}

}  // namespace kforge
