// platform.toml to Platform.
#pragma once

#include <filesystem>

#include "platform/platform.h"

namespace kforge {

// REQUIRES: the folder has a platform.toml. The first mistake in it is the Error.
Result<Platform> read_platform(const std::filesystem::path& folder);

}  // namespace kforge
