// The options of a judging as they are typed: what `kforge eval` must be told to do the same again.
#pragma once

#include <string>
#include <vector>

#include "judge/setup.h"

namespace kforge {

// "--shapes", "small", "--baseline", "none", ...: every option that is not at its default; not the task, nor
// what a report is for (--no-store, --no-build-cache).
std::vector<std::string> judge_arguments(const JudgeOptions& options);

}  // namespace kforge
