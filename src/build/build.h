// Candidate -> artefact. Compiles inside the sandbox; results are cached by content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/failure.h"
#include "generate/candidate.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

namespace kforge {

struct Build {
  std::filesystem::path artefact;     // shared library, in the build cache
  std::string artefact_hash;
  std::string log;                    // warnings, trimmed
  std::vector<std::string> command;   // the compiler line, for people and agents
  std::string march;                  // name of the flag set used
  double seconds = 0;                 // of the compiler
  bool from_cache = false;
  std::vector<std::string> imports;   // undefined dynamic symbols
  std::vector<std::string> exports;   // defined dynamic symbols
};

struct BuildOptions {
  SandboxTier tier = SandboxTier::kBubblewrap;
  std::string march;                  // flag set by name; empty: the best this machine has
  bool use_cache = true;
  bool allow_libraries = false;
};

Step<Build> build_candidate(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                            const Machine& machine, const BuildOptions& options);

}  // namespace kforge
