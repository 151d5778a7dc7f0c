// Runs a compiler from inside the sandbox, where what base/subprocess.h needs to watch a program is refused;
// the sandbox's own limits end it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace kforge {

struct CompilerRun {
  bool ok = false;
  std::string log;  // all it printed
};

// `argv[0]` is a path. An Error: it could not be started.
Result<CompilerRun> run_compiler(const std::vector<std::string>& argv, const std::filesystem::path& folder);

}  // namespace kforge
