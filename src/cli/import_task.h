// A task given as a .py file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kforge {

// Where `spec` is a PyTorch file it becomes the path of the task made from it, remembered under
// kforge_home(), at sizes that take about as long as `fit` says ("": its own). Opaque tasks are computed by
// the same Python from now on.
Result<void> import_in_place(std::string& spec, const std::filesystem::path& python,
                             std::optional<SandboxTier> sandbox, bool silent, const std::string& fit = "");

}  // namespace kforge
