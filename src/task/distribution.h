// The `values` words of task.toml: "normal(0, 1)", "integer(0, V)", "mask(0.8)".
#pragma once

#include <string>
#include <string_view>

#include "task/task.h"

namespace kforge {

Result<Distribution> parse_distribution(std::string_view text);
std::string to_string(const Distribution& distribution);

// An Error says why a tensor of this type cannot have such values (uniform numbers in an integer tensor).
Result<void> check_distribution(const Distribution& distribution, DType dtype);

}  // namespace kforge
