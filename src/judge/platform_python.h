// Which Python runs the programs of a platform of Python modules.
#pragma once

#include <filesystem>

#include "platform/platform.h"

namespace kforge {

// A platform that says "python3" means the user's: the one named (--python), and for PyTorch modules the one
// that imports them. A platform that names another program is left as it is.
void use_python(Platform& platform, const std::filesystem::path& named);

}  // namespace kforge
