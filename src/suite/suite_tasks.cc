#include "suite/suite_tasks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "base/nearest.h"
#include "import/import_many.h"
#include "platform/glob.h"
#include "task/task.h"

namespace kforge {
namespace {

bool is_task(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fs::exists(path / "task.toml", ignored);
  return path.extension() == ".onnx" || is_module_file(path);
}

// What lies directly in a folder.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
  return entries;
}

SuiteTask task_at(const std::string& level, const fs::path& path) {
  const bool file = path.extension() == ".onnx" || path.extension() == ".py";
  const std::string name = file ? path.stem().string() : path.filename().string();
  return {level + "/" + name, path.string()};
}

void add_tasks_in(const fs::path& folder, std::vector<SuiteTask>& tasks) {
  for (const fs::path& entry : entries_of(folder))
    if (is_task(entry)) tasks.push_back(task_at(folder.filename().string(), entry));
}

Result<std::vector<SuiteTask>> tasks_in_folder(const fs::path& given) {
  fs::path folder = fs::absolute(given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "tasks/"
  if (is_task(folder)) return std::vector{task_at(folder.parent_path().filename().string(), folder)};
  std::vector<SuiteTask> tasks;
  add_tasks_in(folder, tasks);
  std::error_code ignored;
  for (const fs::path& level : entries_of(folder))
    if (fs::is_directory(level, ignored) && !is_task(level)) add_tasks_in(level, tasks);
  if (tasks.empty())
    return fail_with_remedy(
        "a task is a folder with task.toml, an .onnx file, or a PyTorch module; docs/suites.md shows the "
        "layout",
        fmt::format("there is no task in {}, nor in the folders in it", folder.string()));
  return tasks;
}

Result<std::vector<SuiteTask>> tasks_of_shipped_suite(std::string_view suite) {
  KF_TRY(std::vector<std::string> names, task_names());
  std::vector<SuiteTask> tasks;
  std::vector<std::string> suites;
  for (const std::string& name : names) {
    SuiteTask task{name, name};
    if (suites.empty() || suites.back() != task.level()) suites.push_back(task.level());
    if (task.level() == suite) tasks.push_back(std::move(task));
  }
  if (!tasks.empty()) return tasks;
  return fail_with_remedy(
      fmt::format("shipped ones: {}; a folder of tasks is given by its path", fmt::join(suites, ", ")),
      fmt::format("there is no suite '{}'{}", suite, did_you_mean(suite, suites)));
}

}  // namespace

Result<std::vector<SuiteTask>> list_suite_tasks(std::string_view where) {
  std::error_code ignored;
  // A name goes before a folder that happens to be called so; "./core" is the folder.
  const bool path = where.find('/') != where.npos || where == "." || where == "..";
  std::vector<SuiteTask> tasks;
  if (auto shipped = tasks_of_shipped_suite(where); shipped && !path) {
    tasks = std::move(*shipped);
  } else if (fs::is_directory(where, ignored) || is_task(where)) {
    KF_TRY(tasks, tasks_in_folder(where));
  } else {
    if (path) return fail("there is no folder {}", where);
    return std::unexpected(shipped.error());
  }
  std::ranges::sort(tasks, [](const SuiteTask& a, const SuiteTask& b) {
    return ::strverscmp(a.name.c_str(), b.name.c_str()) < 0;
  });
  // x.onnx beside a folder x: the folder says more.
  auto repeated = std::ranges::unique(tasks, {}, &SuiteTask::name);
  tasks.erase(repeated.begin(), repeated.end());
  return tasks;
}

Result<std::vector<SuiteTask>> only_tasks(std::vector<SuiteTask> tasks,
                                          const std::vector<std::string>& patterns) {
  if (patterns.empty()) return tasks;
  const std::size_t all = tasks.size();
  std::erase_if(tasks, [&](const SuiteTask& task) {
    return std::ranges::none_of(patterns, [&](const std::string& pattern) {
      return glob_matches(pattern, task.name) || glob_matches(pattern, task.own_name());
    });
  });
  if (tasks.empty())
    return fail_with_remedy("'*' stands for any characters: --only 'level2/*gemm*'",
                            fmt::format("--only {} leaves none of {} tasks", fmt::join(patterns, ","), all));
  return tasks;
}

}  // namespace kforge
