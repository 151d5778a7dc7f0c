// kforge import: PyTorch modules as tasks.
#include "import/import.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/import_task.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "generate/quote.h"
#include "import/fit.h"
#include "import/import_many.h"
#include "import/opaque_modules.h"
#include "report/progress.h"
#include "task/task.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct ImportArguments {
  ImportOptions options;
  std::string path, out, fit;
  std::vector<std::string> set;
  bool check = false, json = false, no_sandbox = false;
  int jobs = 1;
};

std::string flags_text(const ImportedTask& task) {
  std::string text;
  for (const std::string& flag : task.flags) text += (text.empty() ? "" : ", ") + flag;
  return text;
}

Json json_of(const fs::path& file, const ImportedTask* task, std::size_t operators, const Error* error) {
  Json out{{"file", file.string()}};
  if (error) {
    out["state"] = "failed";
    out["error"] = error->message;
    out["remedy"] = error->remedy;
    return out;
  }
  out["state"] = "imported";
  out["name"] = task->name;
  out["origin"] = task->origin;
  out["torch"] = task->torch;
  out["exporter"] = task->sized.exporter;
  out["opaque"] = task->sized.opaque.empty() ? Json() : Json(task->sized.opaque);
  out["operators"] = operators;
  out["difference_fp64"] = task->sized.agreement.wide < 0 ? Json() : Json(task->sized.agreement.wide);
  out["difference_fp32"] = task->sized.agreement.narrow < 0 ? Json() : Json(task->sized.agreement.narrow);
  out["symbols"] = task->sized.symbols;
  out["fixed"] = task->sized.fixed;
  out["bench"] = task->bench;
  out["full"] = task->real;
  out["module_seconds"] = task->module_seconds > 0 ? Json(task->module_seconds) : Json();
  out["flags"] = task->flags;
  out["notes"] = task->notes;
  return out;
}

void print(const Json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string sizes_text(const ImportedTask& task) {
  Values sizes;
  for (const std::string& name : task.sized.symbols) sizes[name] = task.bench.at(name);
  return sizes.empty() ? "one size" : dims_text(sizes);
}

int import_file(ImportArguments& arguments) {
  ImportOptions& options = arguments.options;
  auto progress = make_progress(arguments.json);
  auto task = import_module(options, *progress);
  progress->finish();
  if (!task) return report_error(task.error(), arguments.json);
  fs::path folder = arguments.out.empty() ? fs::path(task->name) : fs::path(arguments.out);
  if (!arguments.check) {
    std::error_code error;
    if (fs::exists(folder, error) && !fs::exists(folder / "task.toml", error))
      return report_error(
          {fmt::format("{} is there and is no task", folder.string()), "-o names another folder"},
          arguments.json);
    if (auto written = write_task(*task, folder); !written)
      return report_error(written.error(), arguments.json);
  }
  std::size_t operators = task->sized.graph.nodes.size();
  if (arguments.json) {
    Json document = json_of(options.file, &*task, operators, nullptr);
    if (!arguments.check) document["folder"] = fs::absolute(folder).string();
    print(Json{{"schema", "kforge.import/1"}, {"task", document}});
    return kExitPassed;
  }
  if (!task->sized.opaque.empty())
    fmt::print("{}: opaque, by PyTorch {}: the module itself is the reference\n", task->name, task->torch);
  else
    fmt::print("{}: {} operators by PyTorch {} (exporter {}); {}\n", task->name, operators, task->torch,
               task->sized.exporter, task->sized.agreement.text());
  fmt::print("  sizes    {}\n", sizes_text(*task));
  for (const auto& [name, why] : task->sized.fixed)
    if (task->real.at(name) > 1)
      fmt::print("  fixed    {} = {}: {}\n", name, task->real.at(name), printable(why));
  for (const std::string& note : task->notes) fmt::print("  note     {}\n", printable(note));
  if (!arguments.check)
    fmt::print(
        "written to {}; next: kforge forge {}\n", folder.string(),
        shell_quoted(folder.is_absolute() ? folder.string() : "./" + folder.lexically_normal().string()));
  return kExitPassed;
}

int import_model(ImportArguments& arguments) {
  auto task = load_task(arguments.path);
  if (!task) return report_error(task.error(), arguments.json);
  fs::path folder = arguments.out.empty() ? fs::path(task->name) : fs::path(arguments.out);
  if (!arguments.check)
    if (auto written = write_model_task(*task, folder); !written)
      return report_error(written.error(), arguments.json);
  if (arguments.json)
    print(Json{{"schema", "kforge.import/1"},
               {"task",
                {{"file", arguments.path},
                 {"state", "imported"},
                 {"name", task->name},
                 {"operators", task->graph.nodes.size()}}}});
  else
    fmt::print("{}: {} operators{}\n", task->name, task->graph.nodes.size(),
               arguments.check ? "" : "; written to " + folder.string());
  return kExitPassed;
}

std::vector<std::string> line_of(const ImportRow& row) {
  if (row.error) return {row.file.string(), "failed", "", printable(row.error->message)};
  if (!row.task->sized.opaque.empty())
    return {row.file.string(), flags_text(*row.task), "",
            single_line(printable(row.task->sized.opaque), 160) + "; " + sizes_text(*row.task)};
  return {row.file.string(), row.task->flags.empty() ? "good" : flags_text(*row.task),
          fmt::format("{} {}", row.operators, row.task->sized.exporter),
          row.task->sized.agreement.text() + "; " + sizes_text(*row.task)};
}

int import_folder(ImportArguments& arguments) {
  auto files = module_files(arguments.path);
  if (!files) return report_error(files.error(), arguments.json);
  fs::path out = arguments.check ? fs::path() : fs::path(arguments.out.empty() ? "tasks" : arguments.out);
  auto progress = make_progress(arguments.json);
  progress->stage("importing");
  std::size_t ended = 0, failed = 0, opaque = 0;
  auto rows =
      import_many(arguments.path, *files, arguments.options, out, arguments.jobs, [&](const ImportRow& row) {
        failed += row.error.has_value();
        opaque += row.task && !row.task->sized.opaque.empty();
        progress->advance(
            static_cast<double>(++ended) / static_cast<double>(files->size()),
            fmt::format("{} of {}, {} failed: {}", ended, files->size(), failed, row.file.string()));
      });
  progress->finish();
  if (arguments.json) {
    Json list = Json::array();
    for (const ImportRow& row : rows)
      list.push_back(json_of(row.file, row.task ? &*row.task : nullptr, row.operators,
                             row.error ? &*row.error : nullptr));
    print(Json{{"schema", "kforge.import/1"}, {"tasks", list}, {"opaque", opaque}, {"failed", failed}});
    return failed == 0 ? kExitPassed : kExitNotPassed;
  }
  std::vector<std::vector<std::string>> lines{
      {"file", "state", "operators", "the graph against the module; sizes"}};
  for (const ImportRow& row : rows) lines.push_back(line_of(row));
  fmt::print("{}\n{} files, {} with a graph that agrees, {} opaque, {} failed{}\n",
             fitted_table(lines, "", terminal_style().table_width, 1), rows.size(),
             rows.size() - failed - opaque, opaque, failed,
             out.empty() ? "" : "; written to " + out.string());
  return failed == 0 ? kExitPassed : kExitNotPassed;
}

int run(ImportArguments& arguments) {
  clean_up_on_interrupt();
  if (auto set = parse_dims(arguments.set); set)
    arguments.options.set = *set;
  else
    return report_error(set.error(), arguments.json);
  if (!arguments.fit.empty()) {
    auto seconds = parse_fit(arguments.fit);
    if (!seconds) return report_error(seconds.error(), arguments.json);
    arguments.options.fit_seconds = *seconds;
  }
  if (arguments.no_sandbox) arguments.options.sandbox = SandboxTier::kNone;
  std::error_code error;
  if (fs::is_directory(arguments.path, error)) return import_folder(arguments);
  if (!fs::exists(arguments.path, error))
    return report_error({fmt::format("there is no file {}", arguments.path), ""}, arguments.json);
  if (arguments.path.ends_with(".onnx") || arguments.path.ends_with(".onnx.txt"))
    return import_model(arguments);
  arguments.options.file = arguments.path;
  return import_file(arguments);
}

}  // namespace

Result<void> import_in_place(std::string& spec, const fs::path& python, std::optional<SandboxTier> sandbox,
                             bool silent, const std::string& fit) {
  std::error_code error;
  set_opaque_modules(pytorch_modules(python, sandbox));
  if (!spec.ends_with(".py")) {
    if (fit.empty()) return {};
    return fail_with_remedy("leave it out, and choose sizes with --shapes or --set",
                            fmt::format("--fit changes the numbers of a PyTorch file; {} is none", spec));
  }
  if (!fs::exists(spec, error)) return fail("there is no file {}", spec);
  clean_up_on_interrupt();  // whoever imports starts programs and makes folders
  ImportOptions options;
  options.file = spec;
  options.python = python;
  options.sandbox = sandbox;
  if (!fit.empty()) {
    KF_TRY(options.fit_seconds, parse_fit(fit));
  }
  auto progress = make_progress(silent);
  auto folder = imported_folder(options, *progress);
  progress->finish();
  if (!folder) return std::unexpected(folder.error());
  spec = folder->string();
  return {};
}

void declare_import(CLI::App& command, int& exit_code) {
  auto a = std::make_shared<ImportArguments>();
  command.add_option("PATH", a->path, "a .py file in KernelBench's form, a folder of them, or a .onnx file")
      ->required();
  add_value(command, "-o,--out", a->out, "DIR", "where the task goes [its name; for a folder: tasks]");
  command.add_option("--set", a->set, "numbers at the top of the file: batch_size=64")
      ->type_name("NUMBERS")
      ->take_all()
      ->expected(1);
  add_value(command, "--fit", a->fit, "TIME",
            "smaller sizes, so that the module takes about this long: 50ms");
  add_value(command, "--python", a->options.python, "PATH", "Python that has PyTorch [2.x before 1.x]");
  add_choice(command, "--exporter", a->options.exporter, {"auto", "legacy", "dynamo"},
             "which exporter of PyTorch");
  command.add_flag("--check", a->check, "write nothing; say what agrees and what does not");
  add_number(command, "-j,--jobs", a->jobs, 1, 64, "files at once, of a folder");
  command.add_flag("--no-sandbox", a->no_sandbox, "run the file with your own rights");
  command.add_flag("--json", a->json, "as JSON");
  command.footer(
      "Such as:  kforge import level1/1_Square_matrix.py -o square     then: kforge forge ./square\n"
      "          kforge import KernelBench/level2 --check --fit 50ms\n"
      "Exit code: 0 all imported, 1 some not, 2 wrong usage or something is missing, 130 interrupted.");
  command.callback([a, &exit_code] { exit_code = run(*a); });
}

}  // namespace kforge
