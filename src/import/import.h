// From a PyTorch module in KernelBench's form (Model, get_inputs, get_init_inputs) to a task.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "import/sizes.h"
#include "task/task.h"

namespace kforge {

struct ImportOptions {
  std::filesystem::path file;
  std::filesystem::path python;   // empty: the first that has torch
  Values set;                     // --set: numbers of the file
  double fit_seconds = 0;         // --fit; 0: the file's own sizes
  std::string exporter = "auto";  // legacy, dynamo, or auto: the first whose graph agrees with the module
  std::optional<SandboxTier> sandbox;
};

struct ImportedTask {
  std::string name;    // "33_Gemm_Scale_BatchNorm"
  std::string origin;  // "KernelBench level 2 #33"; "" where the path says nothing like it
  std::string description;
  std::string source;  // the user's file
  std::string torch;   // version
  SizedGraph sized;
  Values real;                                // numbers of the file, --set applied
  Values bench;                               // the same, fitted
  double module_seconds = 0;                  // of one call at `bench`, where it was fitted; else 0
  std::map<std::string, std::string> values;  // distributions by tensor
  std::vector<std::string> notes;
  std::vector<std::string> flags;  // "stochastic", "constant": what makes figures on it worth less

  std::string task_toml() const;
};

// An Error names the file, the line and what can be done.
Result<ImportedTask> import_module(const ImportOptions& options, Progress& progress);

// task.toml, graph.onnx and reference.py. The folder is made whole or not at all.
Result<void> write_task(const ImportedTask& task, const std::filesystem::path& folder);

// A task given as a model file, with the shapes it was given, as a folder to edit.
Result<void> write_model_task(const Task& task, const std::filesystem::path& folder);

// A folder for `options.file` under kforge_home(), made on first use and again when the file, PyTorch or the
// options change.
Result<std::filesystem::path> imported_folder(const ImportOptions& options, Progress& progress);

// The same where it was made already; else nothing.
std::optional<std::filesystem::path> existing_import(const ImportOptions& options);

}  // namespace kforge
