// Candidate -> artefact. Compiles inside the sandbox; results are cached by content.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "build/symbols.h"
#include "emulate/variant.h"
#include "generate/candidate.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

namespace kforge {

struct Build {
  std::filesystem::path artefact;  // shared library, in the build cache
  std::string artefact_hash;
  std::string log;                   // warnings, trimmed
  std::vector<std::string> command;  // the compiler line, for people and agents
  std::string march;                 // name of the flag set used
  double seconds = 0;                // of the compiler
  bool from_cache = false;
  std::vector<std::string> imports;  // undefined dynamic symbols
  std::vector<std::string> exports;  // defined dynamic symbols
  DynamicSymbols symbols;            // both with their kinds, as gate "symbols" wants them
};

struct BuildOptions {
  SandboxTier tier = SandboxTier::kBubblewrap;
  std::string march;  // flag set by name; empty: the best this machine has
  bool use_cache = true;
  bool allow_libraries = false;
  std::vector<std::string> extra_flags;  // KForge's own, behind all others: "-g1" for a profiler's build
  emulate::Variant variant = emulate::Variant::kFast;  // of an emulated device program
  bool raw_log = false;  // Build::log as the compiler said it, not trimmed (remarks)
};

// Fails with CompileError (also for a directive that is not allowed, and for a program that compiles but
// lacks the function to call), Timeout, NoProgram, or Rejected for a library that is malformed. The symbols
// themselves are judged by the caller, with check_symbols(): they are a gate with its own record.
Step<Build> build_candidate(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                            const Machine& machine, const BuildOptions& options);

// Only `command` and `march`, of a program of one file without directives: known before anything is built.
Step<Build> planned_build(const Platform& platform, const Machine& machine, const BuildOptions& options);

// The same with the text of task.h given, for programs that belong to no task.
Step<Build> build_with_header(const Candidate& candidate, const Platform& platform,
                              std::string_view task_header, const Machine& machine,
                              const BuildOptions& options);

}  // namespace kforge
