// The numbers at the top of an imported task's module, for the shapes a program is judged on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "task/task.h"

namespace kforge {

struct ModuleNumbers {
  std::map<std::string, std::int64_t> numbers;  // as bound
  std::map<std::string, std::int64_t>
      small;  // at the shape set `small`: to learn what costs too much otherwise
};

// REQUIRES: task.task->module.
ModuleNumbers module_numbers(const BoundTask& task);

}  // namespace kforge
