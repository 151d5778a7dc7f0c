// The command line that makes bubblewrap build the namespaces of a spec.
#pragma once

#include <string>
#include <vector>

#include "sandbox/launch_plan.h"
#include "sandbox/sandbox.h"

namespace kforge {

// System folders and files every sandboxed program sees, read-only, where they exist.
std::vector<std::filesystem::path> system_paths();

std::vector<std::string> bubblewrap_argv(const std::filesystem::path& bwrap, const SandboxSpec& spec,
                                         const LaunchPlan& plan);

}  // namespace kforge
