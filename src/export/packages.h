// The forms an export has: each is a list of files.
#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "export/exportable.h"
#include "generate/candidate.h"

namespace kforge {

// A CMake project around the C interface, with `cpp` also the C++ one.
Result<std::vector<SourceFile>> c_package(const Exportable& exported, const std::string& name, bool cpp);

}  // namespace kforge
