// A package's files in a folder, for compilers that read files.
#pragma once

#include <string>

#include "device/device_package.h"

namespace kforge {

// Writes the files from number `first` on into a new folder of the process's own; gives its path.
Result<std::string> write_package_files(const DevicePackage& package, std::size_t first);

}  // namespace kforge
