// A folder of PyTorch files, each imported by itself: one that fails stops no other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "import/import.h"

namespace kforge {

struct ImportRow {
  std::filesystem::path file;        // below the folder
  std::optional<ImportedTask> task;  // without its source and graph: the table needs neither
  std::size_t operators = 0;
  std::optional<Error> error;
  double seconds = 0;
};

// A .py file with a class Model.
bool is_module_file(const std::filesystem::path& path);

// Every such file below `folder`, sorted as people count: 2 before 10.
Result<std::vector<std::filesystem::path>> module_files(const std::filesystem::path& folder);

// `jobs` at once. Each is written to `out`, in folders like those it came from; an empty `out` writes
// nothing. `done` is called with each row as it ends, never by two at once.
std::vector<ImportRow> import_many(const std::filesystem::path& folder,
                                   const std::vector<std::filesystem::path>& files,
                                   const ImportOptions& options, const std::filesystem::path& out, int jobs,
                                   const std::function<void(const ImportRow&)>& done);

}  // namespace kforge
