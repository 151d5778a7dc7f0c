// A program to be judged, and where it came from.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "base/result.h"
#include "platform/platform.h"

namespace kforge {

struct SourceFile {
  std::string name;  // relative, see good_source_name(): "kernel.cc"
  std::string content;
};

struct Candidate {
  std::vector<SourceFile> files;  // the main file first
  std::string origin;             // "file softmax.cc", later "model NAME attempt 3", "smith"
  std::string comment = "//";     // Platform::comment: what begins a line of directives

  std::string content_hash() const;
  // Lines of the form "// kforge: KEY VALUE" in the main file: "general", "flags -O2", "compiler g++",
  // "arithmetic bf16x3", "algebraic", "tune BM=32,64".
  struct Directive {
    std::string key, value;
    int line = 0;
  };
  std::vector<Directive> directives() const;
  // By a directive, or by "general" in its launch plan.
  bool claims_general() const;
  // plan.json of a device program; null: it has none.
  const SourceFile* plan() const;
};

// Reads one file, or every file of a folder that has a given extension (the main file is kernel.* or the only
// one with the first extension found). Symbolic links inside a folder are refused: they would carry files of
// this machine into the program. A file task.h in the folder is passed over: KForge makes that one. No such
// path is an Error; a program that is empty, too large, too many files or not text is NoProgram.
Step<Candidate> read_candidate(const std::filesystem::path& path, const std::vector<std::string>& extensions);

// The same for a platform: a device program's plan.json lies beside its main file, and is always read.
Step<Candidate> read_candidate(const std::filesystem::path& path, const Platform& platform);
inline constexpr const char* kPlanFile = "plan.json";

// In the folder that a run wrote: the list of its files. Beside the program lie callers (check/) and what the
// user builds from them (build/), which are passed over.
inline constexpr const char* kRunManifest = ".kforge-run.json";

// Relative, without "..", made of letters, digits and _ . + - /, no part starting with '-' or '.'.
bool good_source_name(std::string_view name);

inline constexpr std::size_t kMaxSourceBytes = 4 << 20;  // of all files together
inline constexpr std::size_t kMaxSourceFiles = 64;

}  // namespace kforge
