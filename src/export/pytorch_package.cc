// A Python package: the kernel as an operator of PyTorch, ModelNew around it, and the original module it
// stands in for.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"
#include "export/c_interface.h"
#include "export/packages.h"
#include "export/parts.h"
#include "export/provenance.h"
#include "forge/check_tensors.h"

namespace kforge {
namespace {

using ModuleJson = nlohmann::ordered_json;

// Unlike that of any other export, whatever its name: operators of one process share their namespaces.
std::string package_of(const Exportable& exported, const std::string& name) {
  std::string hash = Hasher().add(exported.report.kernel_hash).add(exported.task().key()).add(name).hex();
  return fmt::format("kforge_{}_{}", name, hash.substr(0, 8));
}

ModuleJson module_tensor(const BoundArgument& argument) {
  return {{"name", argument.name},
          {"c_name", argument.c_name},
          {"role", name_of(argument.role)},
          {"dtype", name_of(argument.dtype)},
          {"shape", argument.shape}};
}

// Which tensor of the kernel's calls holds each output of the graph.
std::vector<std::size_t> output_places(const BoundTask& task) {
  std::vector<std::size_t> places;
  for (const Value& output : task.graph.outputs) {
    std::size_t place = 0;
    for (const BoundArgument& argument : task.arguments) {
      if (argument.role == Role::kParam) continue;
      if ((argument.role == Role::kInout ? argument.output : argument.name) == output.name &&
          argument.role != Role::kInput)
        places.push_back(place);
      ++place;
    }
  }
  return places;
}

// The numbers at the top of the module's file, as this shape has them: symbols of the graph have their names.
std::map<std::string, std::int64_t> numbers_of(const Exportable& exported) {
  const Task& task = exported.setup->task;
  if (!task.module) return {};
  std::map<std::string, std::int64_t> numbers = task.module->numbers;
  for (const auto& [name, value] : exported.task().shape_case.dims)
    if (auto known = numbers.find(name); known != numbers.end()) known->second = value;
  return numbers;
}

std::string manifest_json(const Exportable& exported, const std::string& name, const std::string& package) {
  ModuleJson inputs = ModuleJson::array(), params = ModuleJson::array(), tensors = ModuleJson::array();
  for (const BoundArgument& argument : exported.task().arguments) {
    if (argument.role == Role::kParam) params.push_back(module_tensor(argument));
    if (argument.role == Role::kInput || argument.role == Role::kInout)
      inputs.push_back(module_tensor(argument));
    if (argument.role != Role::kParam) tensors.push_back(module_tensor(argument));
  }
  const JudgedLine& line = exported.line;
  return ModuleJson{{"schema", "kforge.module/1"},
                    {"name", name},
                    {"package", package},
                    {"task", exported.report.task},
                    {"result", exported.report.result_id},
                    {"verdict", verdict_sentence(exported.report)},
                    {"caveats", caveats_of(exported.report)},
                    {"inputs", inputs},
                    {"params", params},
                    {"tensors", tensors},
                    {"outputs", output_places(exported.task())},
                    {"numbers", numbers_of(exported)},
                    {"build",
                     {{"compiler", line.compiler},
                      {"sources", line.sources},
                      {"options", line.options},
                      {"runtime", runtime_options(line)},
                      {"link", line.link}}}}
             .dump(2, ' ', false, ModuleJson::error_handler_t::replace) +
         "\n";
}

// Inside a docstring of Python.
std::string docstring(std::string_view text) {
  std::string safe;
  for (char c : text) safe += c == '\\' || c == '"' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return safe;
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values)
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  return text;
}

// The module the task was made from, or the graph itself as one.
std::vector<SourceFile> reference_files(const Exportable& exported, const std::string& package) {
  auto part = [&](const std::string& name, const char* from) {
    return SourceFile{fmt::format("{}/{}", package, name), std::string(export_part(from))};
  };
  if (const auto& module = exported.setup->task.module)
    return {part("reference.py", "pytorch/module_reference.py"),
            part("source.py", "python/source.py"),
            {package + "/original.py", module->text}};
  return {part("reference.py", "pytorch/graph_model.py"),
          part("torch_ops.py", "python/torch_ops.py"),
          {package + "/graph.json", to_json(exported.task().graph) + "\n"}};
}

std::vector<SourceFile> wheel_files(const Exportable& exported, const std::string& package) {
  std::string distribution = package;
  std::ranges::replace(distribution, '_', '-');
  ModuleJson facts = {{"name", distribution},
                      {"version", "1.0.0"},
                      {"summary", docstring(exported.setup->task.description)},
                      {"packages", {package}},
                      {"requires", {"torch>=1.13"}},
                      {"build", package + "/build_kernel.py"}};
  return {{"pyproject.toml",
           "[build-system]\nrequires = []\nbuild-backend = \"wheel_backend\"\nbackend-path = [\".\"]\n\n"
           "[project]\nname = \"" +
               distribution + "\"\nversion = \"1.0.0\"\n"},
          {"wheel.json", facts.dump(2, ' ', false, ModuleJson::error_handler_t::replace) + "\n"},
          {"wheel_backend.py", std::string(export_part("python/wheel_backend.py"))}};
}

std::string usage(const std::string& package, bool wheel) {
  return fmt::format(
      "## Use\n\n    from model_new import ModelNew      # KernelBench's form; or: from {0} import ModelNew\n"
      "    module = ModelNew(*init_inputs)     # a subclass of the original Model: the same state\n"
      "    with torch.no_grad():\n        y = module(*inputs)\n    module.kforge_stats()               # "
      "calls of the "
      "kernel, and of the original by reason\n\nThe kernel is compiled when it is first used. It is called "
      "where shapes, "
      "element types, strides and device are those it was judged with and nobody asks for gradients; "
      "everything else goes "
      "to the original module, counted and logged (logger `kforge`). Weights that change are seen; after a "
      "change through "
      "`.data`, which PyTorch does not count, call `module.kforge_refresh()`.\n\n## Test\n\n    python3 "
      "test.py\n{1}",
      package,
      wheel ? "\n## Install\n\n    pip install .                           # or: pip wheel --no-deps "
              "--wheel-dir dist .\n"
            : "");
}

}  // namespace

Result<std::vector<SourceFile>> pytorch_package(const Exportable& exported, const std::string& name,
                                                const fs::path& folder, bool wheel) {
  const std::string package = package_of(exported, name);
  const BoundTask& task = exported.task();
  std::vector<SourceFile> files;
  for (SourceFile& file : native_files(exported, name))
    files.push_back({package + "/" + file.name, file.content});
  files.push_back(
      {fmt::format("{}/src/{}.h", package, name), c_header(task, name, verdict_sentence(exported.report))});
  files.push_back({package + "/manifest.json", manifest_json(exported, name, package)});
  files.push_back({package + "/__init__.py", std::string(export_part("pytorch/init.py"))});
  for (const char* part : {"runtime.py", "build_kernel.py"})
    files.push_back(
        {fmt::format("{}/{}", package, part), std::string(export_part(fmt::format("pytorch/{}", part)))});
  for (SourceFile& file : reference_files(exported, package)) files.push_back(std::move(file));
  KF_TRY(auto tensors, make_check_tensors(task, exported.setup->policy, exported.setup->threads));
  files.push_back({package + "/test/tensors.json", tensors_json(tensors, exported.prepared())});
  for (SourceFile& file : tensor_files(tensors, package + "/test")) files.push_back(std::move(file));
  files.push_back({"model_new.py", filled(std::string(export_part("pytorch/model_new.py.in")),
                                          {{"{description}", docstring(exported.setup->task.description)},
                                           {"{verdict}", docstring(verdict_sentence(exported.report))},
                                           {"{package}", package},
                                           {"{folder}", ModuleJson(folder.string()).dump()}})});
  files.push_back({"test.py", std::string(export_part("pytorch/test.py"))});
  std::string provenance =
      provenance_json(exported, wheel ? "wheel" : "pytorch", name, package + "/src/kernel");
  files.push_back({package + "/provenance.json", provenance});
  files.push_back({"provenance.json", provenance});
  files.push_back(
      {"README.md", export_readme(exported, name, usage(package, wheel), package + "/src/kernel")});
  if (wheel)
    for (SourceFile& file : wheel_files(exported, package)) files.push_back(std::move(file));
  return files;
}

}  // namespace kforge
