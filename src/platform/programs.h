// Finds the programs that a platform names: compilers, emulators, profilers.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace kforge {

// Path of a program that the sandbox can execute: in PATH and below /usr or /bin, or in one of the folders
// that the platform lets programs read (`sandbox.read`: itself, its bin/, or what PATH has below it). An
// absolute name must lie in one of these. Never a ccache link: inside the sandbox it would find no compiler.
std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  const std::vector<std::filesystem::path>& read = {});

}  // namespace kforge
