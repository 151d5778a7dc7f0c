#include "task/module_numbers.h"

namespace kforge {

ModuleNumbers module_numbers(const BoundTask& task) {
  ModuleNumbers out{task.task->module->numbers, task.task->module->numbers};
  const auto& equal = task.task->module->equal;
  auto put = [&](const std::map<std::string, std::int64_t>& dims,
                 std::map<std::string, std::int64_t>& numbers) {
    for (const auto& [name, value] : dims)
      if (auto found = numbers.find(name); found != numbers.end()) found->second = value;
    for (const auto& [follower, leader] : equal) numbers[follower] = numbers.at(leader);
  };
  put(task.shape_case.dims, out.numbers);
  auto small = task.task->shapes.find("small");
  const bool has_small = small != task.task->shapes.end() && !small->second.empty();
  put(has_small ? small->second[0].dims : task.shape_case.dims, out.small);
  return out;
}

}  // namespace kforge
