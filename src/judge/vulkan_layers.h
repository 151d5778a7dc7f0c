// Vulkan programs once more under the validation layers of the Khronos Group, where they are installed: what
// they say of the program's pipelines, descriptors and launches is a mistake of it. In check mode only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generate/candidate.h"
#include "judge/stopwatch.h"
#include "judge/watched_call.h"
#include "judge/workspace.h"
#include "verify/verdict.h"

namespace kforge {

// The first error in what the layers printed: "VUID-...: words".
std::optional<std::string> first_validation_error(std::string_view text);

// What the layers found in such a call, also in one that failed afterwards.
std::optional<std::string> layers_finding(const Watched& watched);
// Why gate "bounds" says nothing of a program that failed under the layers before they found anything. Such a
// crash alone refuses nobody: the layers crash, too.
std::string layers_left_out(const Failure& failure);

// Gate "bounds". REQUIRES: a platform with driver vulkan.
Result<void> judge_by_layers(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                             Stopwatch& watch, Verdict& verdict);

}  // namespace kforge
