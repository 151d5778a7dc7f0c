// Where a compiler works: its files, its sandbox, and what its failure means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "base/files.h"
#include "build/precompiled.h"
#include "generate/candidate.h"
#include "platform/platform.h"
#include "sandbox/sandbox.h"

namespace kforge {

// Everything the compiler reads and writes. The unprivileged compiler may read src/ and pch/ and write out/,
// where it also runs: paths on its command line and in its messages are then the same for every build.
struct Stage {
  TempDir root;
  fs::path sources, precompiled, output;
};

Result<Stage> make_stage(const Candidate& candidate, std::string_view task_header,
                         const PrecompiledHeader& header);

// Names are written into paths and command lines: whoever made the candidate, they are looked at here.
std::optional<NoProgram> bad_files(const Candidate& candidate);

inline constexpr std::size_t kLargestArtefact = 64 << 20;
SandboxSpec compiler_sandbox(const Stage& stage, const std::vector<std::string>& argv,
                             const Platform& platform);

bool failed(const SandboxExit& exit);
// Of a compiler that failed(): CompileError with its messages, or Timeout.
Failure compile_failure(const SandboxExit& exit, const Stage& stage, double timeout_seconds);

}  // namespace kforge
