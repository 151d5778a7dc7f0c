// A program for a command platform becomes a package that kforge-command runs.
#pragma once

#include "build/build.h"

namespace kforge {

// Fails as build_candidate() does. Build::artefact is a CommandPackage.
Step<Build> build_command_program(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                                  const BuildOptions& options);

}  // namespace kforge
