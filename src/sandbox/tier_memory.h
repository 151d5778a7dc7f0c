// Trying a tier starts a sandbox for nothing, which costs more than all else that happens before a first
// check. What was found a few minutes ago, by this user, with the same programs and settings, is taken as
// found.
#pragma once

#include <optional>

#include "sandbox/sandbox.h"

namespace kforge {

std::optional<SandboxTier> remembered_tier();
void remember_tier(SandboxTier tier);

}  // namespace kforge
