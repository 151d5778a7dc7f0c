#include "task/task.h"

#include <algorithm>

#include "base/hash.h"

namespace kforge {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kParam:
      return "param";
    case Role::kInout:
      return "inout";
    case Role::kOutput:
      return "output";
  }
  return "";
}

std::string full_name(const Task& task) {
  return task.suite.empty() ? task.name : task.suite + "/" + task.name;
}

std::size_t BoundArgument::bytes() const {
  return static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
}

std::string BoundTask::key() const {
  Hasher hasher;
  hasher.add(task->content_hash);
  for (const auto& [symbol, value] : shape_case.dims) hasher.add(symbol).add(std::to_string(value));
  return hasher.hex();
}

bool has_params(const BoundTask& task) {
  return std::ranges::any_of(task.arguments, [](const auto& a) { return a.role == Role::kParam; });
}

}  // namespace kforge
