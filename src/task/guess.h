// Values for tensors of which task.toml says nothing, from how the graph uses them.
#pragma once

#include "task/task.h"

namespace kforge {

// REQUIRES: a bound graph. docs/tasks.md has the table.
Distribution guess_distribution(const Graph& bound, const std::string& value, DType dtype, Role role);

}  // namespace kforge
