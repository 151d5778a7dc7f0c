// An imported task as a folder of files.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "graph/own_model.h"
#include "import/import.h"
#include "task/task.h"

namespace kforge {
namespace {

// A TOML string is a JSON string but for what JSON allows and TOML does not, which dump() never writes.
std::string quoted(const std::string& text) {
  return nlohmann::json(valid_utf8(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string inline_table(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return "{ " + text + " }";
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + quoted(word);
  return "[" + text + "]";
}

Values only(const Values& values, const std::set<std::string>& names) {
  Values out;
  for (const std::string& name : names) out[name] = values.at(name);
  return out;
}

bool is_integer(const std::string& words) { return words.starts_with("integer"); }

// Integers that index something are better drawn from all valid indices than from those that were seen.
Result<void> forget_indices(ImportedTask& task, const fs::path& folder) {
  if (std::ranges::none_of(task.values, [](const auto& one) { return is_integer(one.second); })) return {};
  ImportedTask without = task;
  std::erase_if(without.values, [](const auto& one) { return is_integer(one.second); });
  KF_TRY_VOID(write_file_atomic(folder / "task.toml", without.task_toml()));
  KF_TRY(Task loaded, load_task(folder.string()));
  KF_TRY(BoundTask bound, bind_task(loaded, "small"));
  for (const BoundArgument& argument : bound.arguments)
    if (argument.index_limit > 0) task.values.erase(argument.name);
  return {};
}

}  // namespace

std::string ImportedTask::task_toml() const {
  std::string text = fmt::format("description = {}\n", quoted(description));
  if (!origin.empty()) text += fmt::format("origin = {}\n", quoted(origin));
  if (!notes.empty()) {
    text += "notes = [\n";
    for (const std::string& note : notes) text += fmt::format("  {},\n", quoted(note));
    text += "]\n";
  }
  text += "\n[module]\nfile = \"reference.py\"\n";
  Values numbers = bench;
  for (const std::string& name : sized.derived) numbers.erase(name);
  text += fmt::format("numbers = {}\n", inline_table(numbers));
  std::string pairs;
  for (const auto& [follower, leader] : sized.equal)
    pairs += fmt::format("{}{} = {}", pairs.empty() ? "" : ", ", follower, quoted(leader));
  if (!pairs.empty()) text += fmt::format("equal = {{ {} }}\n", pairs);
  if (!flags.empty()) text += fmt::format("flags = {}\n", list(flags));
  text += fmt::format(
      "made_by = {}\n",
      quoted(sized.opaque.empty()
                 ? fmt::format("PyTorch {}, exporter {}: {}", torch, sized.exporter, sized.agreement.text())
                 : fmt::format("PyTorch {}: opaque, the module is the reference", torch)));
  text += "\n[shapes]\n";
  if (!sized.symbols.empty()) {
    text += fmt::format("bench = {}\n", inline_table(only(bench, sized.symbols)));
    text += fmt::format("small = {}\n", inline_table(only(sized.small, sized.symbols)));
    text += fmt::format("odd = {}\n", inline_table(only(sized.odd, sized.symbols)));
    if (bench != real) text += fmt::format("full = {}\n", inline_table(only(real, sized.symbols)));
  }
  text += "\n[tensors]\n";
  for (const Value& input : sized.graph.inputs) {
    auto words = values.find(input.name);
    std::string said = words == values.end() ? "" : "values = " + quoted(words->second);
    if (sized.states.contains(input.name)) said = "role = \"param\"" + (said.empty() ? "" : ", " + said);
    if (!said.empty()) text += fmt::format("{} = {{ {} }}\n", input.name, said);
  }
  return text;
}

namespace {

// Built beside its place and moved there: a reader sees a whole task or none.
Result<void> make_folder(const fs::path& folder, const std::function<Result<void>(const fs::path&)>& fill) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  fs::path making = folder.string() + fmt::format(".making-{}", ::getpid());
  fs::remove_all(making, error);
  fs::create_directories(making, error);
  if (error)
    return fail_with_remedy("-o names another folder",
                            fmt::format("cannot create {}: {}", making.string(), error.message()));
  auto filled = fill(making);
  if (filled) {
    fs::remove_all(folder, error);
    fs::rename(making, folder, error);
    if (error) filled = fail("cannot create {}: {}", folder.string(), error.message());
  }
  if (!filled) fs::remove_all(making, error);
  return filled;
}

Result<void> check_folder(const fs::path& folder) {
  KF_TRY(Task loaded, load_task(folder.string()));
  for (const char* set : {"bench", "small", "odd"}) {
    KF_TRY(BoundTask bound, bind_task(loaded, set));
  }
  return {};
}

}  // namespace

Result<void> write_task(const ImportedTask& given, const fs::path& folder) {
  return make_folder(folder, [&](const fs::path& making) -> Result<void> {
    ImportedTask task = given;
    KF_TRY(std::string model, to_own_model(task.sized.graph));
    KF_TRY_VOID(write_file_atomic(making / "graph.onnx", model));
    KF_TRY_VOID(write_file_atomic(making / "reference.py", task.source));
    KF_TRY_VOID(forget_indices(task, making));
    KF_TRY_VOID(write_file_atomic(making / "task.toml", task.task_toml()));
    return check_folder(making);
  });
}

Result<void> write_model_task(const Task& task, const fs::path& folder) {
  return make_folder(folder, [&](const fs::path& making) -> Result<void> {
    KF_TRY(std::string model, to_own_model(task.graph));
    KF_TRY_VOID(write_file_atomic(making / "graph.onnx", model));
    std::string toml = fmt::format("description = {}\n\n[shapes]\n", quoted(task.description));
    for (const auto& [set, cases] : task.shapes)
      if (!cases.empty() && !cases[0].dims.empty())
        toml += fmt::format("{} = {}\n", set, inline_table(cases[0].dims));
    KF_TRY_VOID(write_file_atomic(making / "task.toml", toml));
    return check_folder(making);
  });
}

namespace {

Result<fs::path> folder_for(const ImportOptions& options) {
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(std::string source, read_file(options.file, 4 << 20));
  KF_TRY(PythonFacts python, python_with_torch(options.python));
  Hasher hasher;
  hasher.add("imported module 2").add(source).add(python.python.string()).add(python.versions.at("torch"));
  hasher.add(fmt::format("{} {}", options.fit_seconds, options.exporter));
  for (const auto& [name, value] : options.set) hasher.add(fmt::format("{}={}", name, value));
  std::string name = options.file.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  // The hash stands above: the folder's name is the task's.
  return home / "imports" / hasher.hex().substr(0, 16) / name;
}

}  // namespace

std::optional<fs::path> existing_import(const ImportOptions& options) {
  auto folder = folder_for(options);
  std::error_code error;
  if (!folder || !fs::exists(*folder / "task.toml", error)) return std::nullopt;
  return *folder;
}

Result<fs::path> imported_folder(const ImportOptions& options, Progress& progress) {
  KF_TRY(fs::path folder, folder_for(options));
  std::error_code error;
  if (fs::exists(folder / "task.toml", error)) return folder;
  KF_TRY(ImportedTask task, import_module(options, progress));
  KF_TRY_VOID(write_task(task, folder));
  return folder;
}

}  // namespace kforge
