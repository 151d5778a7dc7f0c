// The user's PyTorch as the reference of opaque tasks: their modules run by the bridge, in the sandbox.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "oracle/opaque.h"
#include "sandbox/sandbox.h"

namespace kforge {

// `python` empty: the first that has torch. Starts nothing before a module is to be run.
std::shared_ptr<OpaqueModules> pytorch_modules(std::filesystem::path python,
                                               std::optional<SandboxTier> sandbox);

}  // namespace kforge
