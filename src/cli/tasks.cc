// kforge tasks: the list, one task in full, and the check that no task of a suite is vacuous.
#include "task/task.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/readable.h"
#include "cli/commands.h"
#include "cli/import_task.h"
#include "cli/interrupt.h"
#include "cli/judge_options.h"
#include "cli/options.h"
#include "cli/tasks.h"
#include "report/eval_terminal.h"
#include "store/eval_report.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

Json dims_json(const ShapeCase& shape) { return Json(shape.dims); }

// Suites are a closed list: a word that is none of them was meant to be one, or a command.
Result<std::vector<Task>> tasks_of(const std::string& suite) {
  KF_TRY(auto tasks, load_all_tasks(suite));
  if (!tasks.empty() || suite.empty()) return tasks;
  KF_TRY(auto all, load_all_tasks());
  std::vector<std::string> known{"show", "check"};
  for (const Task& task : all)
    if (std::find(known.begin(), known.end(), task.suite) == known.end()) known.push_back(task.suite);
  return fail("there is no suite {}{}", suite, did_you_mean(suite, known));
}

Result<void> list(const std::string& suite, const std::string& shape_set, bool json) {
  KF_TRY(auto tasks, tasks_of(suite));
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines{{"task", shape_set, "flops", "bytes", "flop/byte"}};
  for (const Task& task : tasks) {
    if (!task.shapes.contains(shape_set)) continue;
    KF_TRY(BoundTask bound, bind_task(task, shape_set));
    list.push_back({{"name", full_name(task)},
                    {"description", task.description},
                    {"origin", task.origin},
                    {"shape_sets", Json::object()},
                    {"shape_set", shape_set},
                    {"flops", bound.cost.flops},
                    {"bytes", bound.cost.compulsory_bytes},
                    {"intensity", bound.cost.intensity()}});
    for (const auto& [name, cases] : task.shapes)
      for (const ShapeCase& shape : cases) list.back()["shape_sets"][name].push_back(dims_json(shape));
    lines.push_back({full_name(task), dims_text(bound.shape_case.dims), readable_count(bound.cost.flops),
                     readable_bytes(bound.cost.compulsory_bytes),
                     fmt::format("{:.1f}", bound.cost.intensity())});
  }
  if (json)
    fmt::print("{}\n", Json{{"schema", "kforge.tasks/1"}, {"tasks", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}\n{} tasks; `kforge tasks show NAME` prints one\n",
               fitted_table(lines, "llrrr", terminal_style().table_width, 1), lines.size() - 1);
  return {};
}

Result<void> show(std::string spec, const std::string& shape_set, const std::vector<std::string>& set,
                  bool json) {
  KF_TRY_VOID(import_in_place(spec, {}, std::nullopt, json));
  KF_TRY(Task task, load_task(spec));
  KF_TRY(auto dims, parse_dims(set));
  KF_TRY_VOID(set_dims(task, shape_set, dims));
  KF_TRY(BoundTask bound, bind_task(task, shape_set));
  std::string header = make_task_header(bound);
  if (json) {
    Json arguments = Json::array();
    for (const BoundArgument& argument : bound.arguments)
      arguments.push_back({{"name", argument.name},
                           {"c_name", argument.c_name},
                           {"role", name_of(argument.role)},
                           {"dtype", name_of(argument.dtype)},
                           {"shape", argument.shape}});
    Json document{{"schema", "kforge.task/1"},
                  {"name", full_name(task)},
                  {"description", task.description},
                  {"origin", task.origin},
                  {"hash", task.content_hash},
                  {"shape_set", shape_set},
                  {"dims", dims_json(bound.shape_case)},
                  {"flops", bound.cost.flops},
                  {"bytes", bound.cost.compulsory_bytes},
                  {"arguments", arguments},
                  {"graph", task.source_text},
                  {"task_h", header},
                  {"notes", task.notes}};
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
    return {};
  }
  Paint paint(terminal_style().colour);
  fmt::print("{}  {}\n", paint.strong(full_name(task)), printable(task.description));
  if (!task.origin.empty()) fmt::print("follows {}\n", printable(task.origin));
  for (const std::string& note : task.notes) fmt::print("note: {}\n", printable(note));
  for (const auto& [name, cases] : task.shapes)
    for (const ShapeCase& shape : cases) fmt::print("  {:<7}{}\n", name, dims_text(shape.dims));
  fmt::print("  {}: {}FLOP, {} compulsory, {:.1f} flop/byte\n\n", shape_set,
             readable_count(bound.cost.flops) + (bound.cost.flops < 1000 ? " " : ""),
             readable_bytes(bound.cost.compulsory_bytes), bound.cost.intensity());
  fmt::print("{}\n\n{}\n{}", paint.faint("// graph"), printable(task.source_text),
             paint.faint("// task.h for shape set " + shape_set + "\n\n"));
  fmt::print("{}", header);
  return {};
}

Result<void> list_names(const std::string& suite) {
  KF_TRY(std::vector<std::string> names, task_names());
  for (const std::string& name : names)
    if (suite.empty() || name.starts_with(suite + "/")) fmt::print("{}\n", name);
  return {};
}

struct TasksArguments {
  std::string suite, name, shape_set = "bench", check_shapes = "small";
  std::vector<std::string> set;
  bool json = false, names = false;
};

}  // namespace

void declare_tasks(CLI::App& command, int& exit_code) {
  auto a = std::make_shared<TasksArguments>();
  auto finish = [a, &exit_code](const Result<void>& done) {
    exit_code = done ? kExitPassed : report_error(done.error(), a->json);
  };
  command.require_subcommand(0, 1);
  command.add_option("SUITE", a->suite, "only this suite");
  add_value(command, "--shapes", a->shape_set, "SET", "shape set the figures are for");
  command.add_flag("--names", a->names, "the names alone, one a line");
  command.add_flag("--json", a->json, "as JSON");

  CLI::App* one =
      command.add_subcommand("show", "print a task: its graph and the task.h its kernels include");
  one->add_option("NAME", a->name, "task by name, folder, .onnx or .py file")->required();
  one->group("Commands");
  add_value(*one, "--shapes", a->shape_set, "SET", "shape set task.h is for");
  add_dims(*one, a->set);
  one->add_flag("--json", a->json, "as JSON");

  CLI::App* check =
      command.add_subcommand("check", "check that programs which do nothing fail on every task");
  check->add_option("SUITE", a->suite, "suite or task [all suites]");
  add_value(*check, "--shapes", a->check_shapes, "SET", "shape set to check on");
  check->add_flag("--json", a->json, "as JSON");

  command.callback([=, &command, &exit_code] {
    if (command.got_subcommand("show")) return finish(show(a->name, a->shape_set, a->set, a->json));
    if (!command.got_subcommand("check") && a->names) return finish(list_names(a->suite));
    if (!command.got_subcommand("check")) return finish(list(a->suite, a->shape_set, a->json));
    clean_up_on_interrupt();
    exit_code = check_tasks(a->suite, a->check_shapes, a->json);
  });
}

}  // namespace kforge
