// For tests of the house: the folder of the sources.
#pragma once

#include "base/files.h"

namespace kforge {

inline const fs::path kRoot = KFORGE_SOURCE_DIR;

}  // namespace kforge
