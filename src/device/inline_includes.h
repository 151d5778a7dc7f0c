// Sources for compilers that take one text: what they include of the program's own files is put in its place.
#pragma once

#include <string>

#include "device/device_package.h"

namespace kforge {

// The main file with every `#include "x"` of a file of the package replaced by its content, once, between
// #line directives. Other includes stay.
std::string inline_includes(const DevicePackage& package);

}  // namespace kforge
