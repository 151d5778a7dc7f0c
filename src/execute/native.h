// A native artefact as a program to run: the runner loads it inside the sandbox.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "execute/program_process.h"

namespace kforge {

// Files and filters that a native program needs while it runs; keep it alive as long as the program.
struct NativeProgram {
  TempDir staged;  // runner and artefact, readable for the unprivileged uid
  Fd load_filter, run_filter;
  ProgramSpec spec;
};

// The runner alone; the artefact must be there before the program is told to load it.
Result<NativeProgram> stage_runner(std::string name, SandboxTier tier);
Result<void> place_artefact(const NativeProgram& program, const std::filesystem::path& artefact);
// Both.
Result<NativeProgram> stage_native(std::string name, const std::filesystem::path& artefact, SandboxTier tier);

}  // namespace kforge
