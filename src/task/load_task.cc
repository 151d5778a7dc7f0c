// load_task and load_all_tasks: from a name or path to a Task.
#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "task/arguments.h"
#include "task/default_shapes.h"
#include "task/task.h"
#include "task/task_file.h"

namespace kforge {
namespace {

constexpr std::size_t kTomlLimit = 1 << 20;

// Every dimension the graph or a distribution needs must have a number in every case, and no other may be
// there.
Result<void> check_shapes(const Task& task) {
  std::set<std::string> needed = symbols_of(task.graph), known = needed;
  for (const Argument& argument : task.arguments)
    for (const std::string* symbol : {&argument.distribution.a_symbol, &argument.distribution.b_symbol})
      if (!symbol->empty()) needed.insert(*symbol), known.insert(*symbol);
  for (const Value& output : task.graph.outputs)
    for (const Dim& dim : output.type.dims)
      if (!dim.symbol.empty()) known.insert(dim.symbol);
  for (std::string_view set : {"bench", "small", "odd"})
    if (!task.shapes.contains(std::string(set)))
      return fail("the shape set '{}' is missing in [shapes]", set);
  for (const auto& [set, cases] : task.shapes)
    for (const ShapeCase& one : cases) {
      for (const std::string& symbol : needed)
        if (!one.dims.contains(symbol))
          return fail("shape set '{}' gives no number for the dimension '{}'", set, symbol);
      for (const auto& [symbol, value] : one.dims)
        if (!known.contains(symbol))
          return fail("shape set '{}': the graph has no dimension '{}'", set, symbol);
    }
  return {};
}

Result<fs::path> graph_file_in(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"graph.onnx.txt", "graph.onnx"})
    if (fs::exists(folder / name, error)) return folder / name;
  return fail("{} has neither graph.onnx.txt nor graph.onnx", folder.string());
}

Result<Task> load_folder(const fs::path& folder, const std::string& suite) {
  KF_TRY(std::string toml, read_file(folder / "task.toml", kTomlLimit));
  KF_TRY(fs::path graph_path, graph_file_in(folder));
  KF_TRY(std::string graph_bytes, read_file(graph_path));
  std::string toml_path = (folder / "task.toml").string();
  KF_TRY(TaskFile file, parse_task_file(toml, toml_path));

  Task task;
  task.name = file.name.empty() ? fs::absolute(folder).lexically_normal().filename().string() : file.name;
  if (task.name.empty())
    task.name = fs::absolute(folder).lexically_normal().parent_path().filename().string();
  task.suite = suite;
  task.path = fs::absolute(folder).lexically_normal().string();
  task.description = file.description;
  task.origin = file.origin;
  task.notes = file.notes;
  task.content_hash = Hasher().add(toml).add(graph_bytes).hex();
  KF_TRY(task.graph, load_graph(graph_path.string()));
  name_unknown_dims(task.graph);
  task.source_text = graph_path.extension() == ".txt" ? graph_bytes : print_graph(task.graph);
  task.shapes = file.shapes;
  // Without symbols there is one shape, and every set means it.
  if (symbols_of(task.graph).empty())
    for (const char* set : {"bench", "small", "odd"}) task.shapes.try_emplace(set, std::vector<ShapeCase>(1));
  if (file.module) {
    task.module = file.module;
    task.module->path = (folder / file.module->path).string();
    KF_TRY(task.module->text, read_file(task.module->path, kTomlLimit));
  }
  auto arguments = make_arguments(task.graph, file);
  if (!arguments) return fail("{}: {}", toml_path, arguments.error().message);
  task.arguments = std::move(*arguments);
  if (auto fits = check_shapes(task); !fits) return fail("{}: {}", toml_path, fits.error().message);
  return task;
}

Result<Task> load_bare(const fs::path& path) {
  Task task;
  task.name = path.stem().string();
  if (task.name.ends_with(".onnx")) task.name.resize(task.name.size() - 5);
  task.description = "the model " + path.filename().string();
  task.path = fs::absolute(path).lexically_normal().string();
  KF_TRY(std::string bytes, read_file(path));
  task.content_hash = Hasher().add("").add(bytes).hex();
  KF_TRY(task.graph, load_graph(path.string()));
  name_unknown_dims(task.graph);
  task.source_text = path.extension() == ".txt" ? bytes : print_graph(task.graph);
  auto arguments = make_arguments(task.graph, {});
  if (!arguments) return fail("{}: {}", path.string(), arguments.error().message);
  task.arguments = std::move(*arguments);
  auto shapes = default_shapes(task.graph);
  if (!shapes) {
    shapes.error().message = path.string() + ": " + shapes.error().message;
    return std::unexpected(shapes.error());
  }
  task.shapes = std::move(*shapes);
  return task;
}

struct Listed {
  std::string suite, name;
  fs::path folder;
};

Result<std::vector<Listed>> list_suites() {
  KF_TRY(fs::path root, data_root());
  std::vector<Listed> out;
  std::error_code error;
  for (const auto& suite : fs::directory_iterator(root / "tasks", error))
    if (suite.is_directory(error))
      for (const auto& task : fs::directory_iterator(suite.path(), error))
        if (fs::exists(task.path() / "task.toml", error))
          out.push_back({suite.path().filename().string(), task.path().filename().string(), task.path()});
  if (out.empty())
    return fail_with_remedy("set KFORGE_DATA to the folder that has platforms/ and tasks/, or unset it",
                            fmt::format("there are no tasks in {}", (root / "tasks").string()));
  std::ranges::sort(out, {}, [](const Listed& one) { return std::tie(one.suite, one.name); });
  return out;
}

Result<Task> load_by_name(std::string_view spec) {
  KF_TRY(std::vector<Listed> all, list_suites());
  const Listed* found = nullptr;
  std::vector<std::string> known;
  for (const Listed& one : all) {
    std::string full = one.suite + "/" + one.name;
    if (spec == full) return load_folder(one.folder, one.suite);
    if (spec == one.name) {
      if (found)
        return fail("'{}' is in the suites {} and {}: write {} or {}", spec, found->suite, one.suite,
                    found->suite + "/" + found->name, full);
      found = &one;
    }
    known.push_back(spec.find('/') == std::string_view::npos ? one.name : full);
  }
  if (found) return load_folder(found->folder, found->suite);
  return fail_with_remedy("kforge tasks lists them; a folder or .onnx file is given by its path",
                          fmt::format("there is no task '{}'{}", spec, did_you_mean(spec, known)));
}

}  // namespace

Result<Task> load_task(std::string_view spec) {
  fs::path path(spec);
  std::error_code error;
  if (spec.empty()) return fail("a task needs a name");
  if (fs::is_directory(path, error) && fs::exists(path / "task.toml", error)) return load_folder(path, "");
  bool is_model = spec.ends_with(".onnx") || spec.ends_with(".onnx.txt");
  if (is_model && fs::exists(path, error)) return load_bare(path);
  if (is_model) return fail("the file {} is not there", spec);
  if (fs::is_directory(path, error) && spec.find('/') != std::string_view::npos)
    return fail("the folder {} has no task.toml", spec);
  return load_by_name(spec);
}

Result<std::vector<std::string>> task_names() {
  KF_TRY(std::vector<Listed> all, list_suites());
  std::vector<std::string> names;
  for (const Listed& one : all) names.push_back(one.suite + "/" + one.name);
  return names;
}

Result<std::vector<Task>> load_all_tasks(std::string_view suite) {
  KF_TRY(std::vector<Listed> all, list_suites());
  std::vector<Task> tasks;
  std::vector<std::string> suites;
  for (const Listed& one : all) {
    if (suites.empty() || suites.back() != one.suite) suites.push_back(one.suite);
    if (!suite.empty() && suite != one.suite) continue;
    KF_TRY(Task task, load_folder(one.folder, one.suite));
    tasks.push_back(std::move(task));
  }
  if (tasks.empty() && !suite.empty())
    return fail("there is no suite '{}'{}", suite, did_you_mean(suite, suites));
  return tasks;
}

}  // namespace kforge
