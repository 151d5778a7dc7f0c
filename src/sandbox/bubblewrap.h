// The command line that makes bubblewrap build the namespaces of a spec.
#pragma once

#include <string>
#include <vector>

#include "sandbox/launch_plan.h"
#include "sandbox/sandbox.h"

namespace kforge {

// System folders, files and devices that a program of this profile sees where they exist (devices to use, the
// rest to read).
std::vector<std::filesystem::path> system_paths(SandboxProfile profile);

// `launcher` becomes pid 1 inside: by its path, or, where that is empty, copied from the plan's descriptor.
std::vector<std::string> bubblewrap_argv(const std::filesystem::path& bwrap,
                                         const std::filesystem::path& launcher, const SandboxSpec& spec,
                                         const LaunchPlan& plan);

}  // namespace kforge
