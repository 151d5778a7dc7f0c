// Baselines go through the value gates too, once per task: a gate that a baseline fails is printed with the
// task.
#pragma once

#include <optional>
#include <string>

#include "base/file_cache.h"
#include "verify/verdict.h"

namespace kforge {

// The gate the program fails and why, or nothing. `identity` (name and version) with a cache remembers the
// answer for this task; an empty one asks anew.
Result<std::optional<std::string>> gates_of_baseline(const JudgeContext& context,
                                                     const ContenderSpec& program,
                                                     const std::string& identity, FileCache* cache);

}  // namespace kforge
