// kforge tasks check: null candidates (zeros, ones, a copy of an input, the mean) on every task of a suite.
#include "cli/tasks.h"

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "machine/machine.h"
#include "report/eval_report.h"
#include "report/readable.h"
#include "store/store.h"
#include "task/task.h"
#include "verify/calibration.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string task, state, text;  // state: good, vacuous, error, absent
};

std::string full_name(const Task& task) {
  return task.suite.empty() ? task.name : task.suite + "/" + task.name;
}

Result<std::vector<Task>> wanted_tasks(const std::string& spec) {
  KF_TRY(auto tasks, load_all_tasks(spec));
  if (!tasks.empty()) return tasks;
  KF_TRY(Task task, load_task(spec));
  tasks.push_back(std::move(task));
  return tasks;
}

Row check_one(const Task& task, const std::string& shape_set, const Machine& machine, FileCache& cache) {
  if (!task.shapes.contains(shape_set)) return {full_name(task), "absent", "has no shape set " + shape_set};
  auto bound = bind_task(task, shape_set);
  if (!bound) return {full_name(task), "error", bound.error().message};
  JudgeContext context;
  context.task = &*bound;
  context.machine = &machine;
  context.policy = *policy_from_name("fp32");
  context.threads = machine.threads();
  context.secret = random_seed();
  context.oracle_cache = &cache;
  auto calibration = calibrate(context);
  if (!calibration) return {full_name(task), "error", calibration.error().message};
  if (calibration->vacuous()) return {full_name(task), "vacuous", calibration->passing.front() + " passes"};
  return {full_name(task), "good",
          fmt::format("nearest: {}, {:.3g} times outside the bound", calibration->closest_name,
                      calibration->closest)};
}

}  // namespace

int check_tasks(const std::string& suite_or_task, const std::string& shape_set, bool json) {
  auto tasks = wanted_tasks(suite_or_task);
  if (!tasks) return report_error(tasks.error(), json);
  auto machine = describe_machine();
  if (!machine) return report_error(machine.error(), json);
  // Secrets are drawn anew for each check, so nothing of it is worth keeping: the cache goes with the folder.
  auto folder = TempDir::create();
  if (!folder) return report_error(folder.error(), json);
  FileCache cache(folder->path(), std::size_t{1} << 30);

  auto progress = make_progress(json);
  progress->stage("checking tasks");
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    progress->advance(static_cast<double>(i) / static_cast<double>(tasks->size()), full_name((*tasks)[i]));
    Row row = check_one((*tasks)[i], shape_set, *machine, cache);
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
    fmt::print("{}\n{} tasks on {}, {} bad\n", table(lines), lines.size(), shape_set, bad);
  return bad == 0 ? kExitPassed : kExitNotPassed;
}

}  // namespace kforge
