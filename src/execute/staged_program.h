// A program made ready to run: its files where the unprivileged uid can read them, and how its process
// starts. One type for every platform; what differs between them is in RunSetting.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "build/target_programs.h"
#include "execute/program_process.h"
#include "platform/platform.h"

namespace kforge {

// How the programs of a platform run on this machine: the same for all of them.
struct RunSetting {
  TargetPrograms programs;
  std::vector<std::string> prefix;  // of the command: an emulator, by its path
  SandboxProfile profile = SandboxProfile::kNative;
  std::vector<std::filesystem::path> readable;
  std::map<std::string, std::string> env;
  bool scratch = false;                       // programs write files (drivers do)
  bool reserves_addresses = false;            // SandboxLimits::reserves_addresses
  bool starts_anew = false;                   // ProgramSpec::starts_anew
  std::vector<std::string> thread_variables;  // further ones that get the number of threads
};
// An Error says what is not installed.
Result<RunSetting> run_setting(const Platform& platform);

// Files and filters that a program needs while it runs; keep it alive as long as the program.
struct StagedProgram {
  TempDir staged;              // runner and artefact
  Fd load_filter, run_filter;  // of the profile `native`
  ProgramSpec spec;
};

// The runner alone; the artefact must be there before the program is told to load it.
Result<StagedProgram> stage_runner(std::string name, const RunSetting& setting, SandboxTier tier);
Result<void> place_artefact(const StagedProgram& program, const std::filesystem::path& artefact);
// Both.
Result<StagedProgram> stage_program(std::string name, const RunSetting& setting,
                                    const std::filesystem::path& artefact, SandboxTier tier);

}  // namespace kforge
