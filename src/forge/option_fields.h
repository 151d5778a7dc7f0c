// The options of a run as the store keeps them, for --resume: by name, one list for both directions.
#pragma once

#include "forge/forge.h"
#include "store/runs.h"

namespace kforge {

OptionMap to_options(const ForgeOptions& options);
// An Error names the option that is missing or of another kind.
Result<ForgeOptions> options_from(const OptionMap& options);

}  // namespace kforge
