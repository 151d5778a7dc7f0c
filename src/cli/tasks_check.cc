// kforge tasks check: null candidates (zeros, ones, a copy of an input, the mean) on every task of a suite.
#include "cli/tasks.h"

#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "judge/task_check.h"
#include "report/eval_terminal.h"
#include "report/progress.h"
#include "task/task.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string task, state, text;  // state: good, vacuous, error, absent
};

Result<std::vector<Task>> wanted_tasks(const std::string& spec) {
  if (auto suite = load_all_tasks(spec); suite && !suite->empty()) return suite;
  KF_TRY(Task task, load_task(spec));
  std::vector<Task> tasks;
  tasks.push_back(std::move(task));
  return tasks;
}

Row check_one(const Task& task, const std::string& shape_set) {
  if (!task.shapes.contains(shape_set)) return {full_name(task), "absent", "has no shape set " + shape_set};
  auto check = check_task(task, shape_set, "fp32");
  if (!check) return {full_name(task), "error", check.error().message};
  const Calibration& calibration = check->calibration;
  std::string oracle = fmt::format("oracle {:.2f} s, fp32 finite on {} input kinds", check->oracle_seconds,
                                   check->kinds_finite);
  if (calibration.vacuous())
    return {full_name(task), "vacuous", calibration.passing.front() + " passes; " + oracle};
  return {full_name(task), "good",
          fmt::format("{}; nearest: {}, at least {:.3g} times outside the bound", oracle,
                      calibration.closest_name, calibration.closest)};
}

}  // namespace

int check_tasks(const std::string& suite_or_task, const std::string& shape_set, bool json) {
  auto tasks = wanted_tasks(suite_or_task);
  if (!tasks) return report_error(tasks.error(), json);
  auto progress = make_progress(json);
  progress->stage("checking tasks");
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    progress->advance(static_cast<double>(i) / static_cast<double>(tasks->size()), full_name((*tasks)[i]));
    Row row = check_one((*tasks)[i], shape_set);
    bad += row.state == "vacuous" || row.state == "error";
    list.push_back({{"task", row.task}, {"state", row.state}, {"text", row.text}});
    lines.push_back({row.task, row.state, printable(row.text)});
  }
  progress->finish();
  if (json)
    fmt::print(
        "{}\n",
        Json{{"schema", "kforge.tasks_check/1"}, {"shape_set", shape_set}, {"tasks", list}, {"bad", bad}}
            .dump(2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}\n{} tasks on {}, {} bad\n", fitted_table(lines, "", terminal_style().table_width, 1),
               lines.size(), shape_set, bad);
  return bad == 0 ? kExitPassed : kExitNotPassed;
}

}  // namespace kforge
