// `kforge export`: a verified kernel as a folder that builds and tests itself, for users of C, C++ and
// PyTorch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "store/eval_report.h"

namespace kforge {

struct ExportRequest {
  std::string id;             // result or run
  std::string as = "c";       // --as
  std::filesystem::path out;  // --out; empty: NAME-AS in the current folder
  std::string name;           // --name; empty: after the task
  int shape_case = 0;         // --case, from 1; 0: the only one
};

struct Exported {
  std::string name, as, task, verdict;
  std::filesystem::path folder;  // absolute
  EvalReport report;
  std::vector<std::string> caveats, files, commands;  // files and commands relative to the folder
};

inline const std::vector<std::string> kExportForms = {"c", "cpp", "pytorch", "wheel"};

// What cannot be exported is an Error that says why; so is a folder with other files in it.
Result<Exported> export_program(const ExportRequest& request, Progress& progress);

}  // namespace kforge
