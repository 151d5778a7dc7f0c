// ${name} in the argv lists of platform.toml.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

using Substitutions = std::map<std::string, std::vector<std::string>, std::less<>>;

// An argument that is exactly "${name}" becomes as many arguments as the list has (also none); inside a
// longer argument the list must have one element. "$$" is a dollar sign. Nothing is ever given to a shell.
Result<std::vector<std::string>> substitute(const std::vector<std::string>& argv,
                                            const Substitutions& values);

// Names used in an argument, in order; an Error for "${" without "}".
Result<std::vector<std::string>> variables_in(std::string_view argument);

}  // namespace kforge
