// task.toml as it stands in the file: checked for form, not yet against the graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/task.h"

namespace kforge {

struct TensorWords {
  std::optional<Role> role;
  std::optional<Distribution> values;
  std::string output;
  int line = 0;  // for messages
};

struct TaskFile {
  std::string name, description, origin;
  std::vector<std::string> notes;
  std::map<std::string, std::vector<ShapeCase>> shapes;
  std::map<std::string, TensorWords> tensors;
  std::optional<ModuleSource> module;  // `path` is the name of the file in the folder
};

// Errors begin with `path:line:`.
Result<TaskFile> parse_task_file(std::string_view text, const std::string& path);

}  // namespace kforge
