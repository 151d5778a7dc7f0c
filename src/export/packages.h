// The forms an export has: each is a list of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "export/exportable.h"
#include "generate/candidate.h"

namespace kforge {

// A CMake project around the C interface, with `cpp` also the C++ one.
Result<std::vector<SourceFile>> c_package(const Exportable& exported, const std::string& name, bool cpp);
// A Python package with ModelNew, which compiles the kernel when it is first used; with `wheel` also what pip
// needs to make a wheel of it. `folder`: where it will lie.
Result<std::vector<SourceFile>> pytorch_package(const Exportable& exported, const std::string& name,
                                                const std::filesystem::path& folder, bool wheel);

}  // namespace kforge
