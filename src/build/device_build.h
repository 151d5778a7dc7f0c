// A device program becomes a package that kforge-device runs: plan and source checked, kernels compiled.
#pragma once

#include "build/build.h"

namespace kforge {

// A directive that programs of this kind, "device" or "command", do not have.
std::optional<CompileError> bad_directive(const Candidate& candidate, std::string_view kind);

// Fails as build_candidate() does. Build::artefact is a DevicePackage.
Step<Build> build_device_program(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                                 const BuildOptions& options);

}  // namespace kforge
