// The C signature: which tensors a kernel gets, in which order, under which names.
#pragma once

#include "task/task.h"
#include "task/task_file.h"

namespace kforge {

// Graph inputs in graph order whatever their role, then initializers that are not folded, then outputs that
// are not the new value of an inout. Errors name the tensor of task.toml that does not exist or does not fit.
Result<std::vector<Argument>> make_arguments(const Graph& graph, const TaskFile& file);

}  // namespace kforge
