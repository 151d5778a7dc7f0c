// The environment of this process, for children that need all of it.
#pragma once

#include <map>
#include <string>

namespace kforge {

std::map<std::string, std::string> whole_environment();

}  // namespace kforge
