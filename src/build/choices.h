// What a build is made with: the compiler, the flag set and the flags the candidate asked for in its
// directives.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/failure.h"
#include "build/build.h"

namespace kforge {

struct BuildChoices {
  Compiler compiler;
  std::filesystem::path compiler_path;
  std::string compiler_identity;  // changes when the compiler or the C library's headers are replaced
  FlagSet march;
  std::vector<std::string> flags;  // from "// kforge: flags", all allowed
};

// Changes when the compiler or the C library's headers are replaced.
std::string compiler_identity(const std::filesystem::path& compiler);

// A directive that is unknown or asks for what is not allowed is a CompileError with its line; a compiler
// that the platform needs and this machine lacks, or a flag set that does not exist, is an Error.
Step<BuildChoices> choose(const Candidate& candidate, const Platform& platform, const Machine& machine,
                          const BuildOptions& options);

}  // namespace kforge
