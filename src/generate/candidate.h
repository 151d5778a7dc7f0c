// A program to be judged, and where it came from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/failure.h"
#include "base/result.h"

namespace kforge {

struct SourceFile {
  std::string name;     // relative, no "..": "kernel.cc"
  std::string content;
};

struct Candidate {
  std::vector<SourceFile> files;  // the main file first
  std::string origin;             // "file softmax.cc", later "model NAME attempt 3", "smith"

  std::string content_hash() const;
  // Lines of the form "// kforge: KEY VALUE" in the main file: "general", "flags -O2", "compiler clang++-19",
  // "arithmetic bf16x3", "tune BM=32,64".
  struct Directive { std::string key, value; int line = 0; };
  std::vector<Directive> directives() const;
  bool claims_general() const;
};

// Reads one file, or every file of a folder that has a given extension (the main file is kernel.* or the only
// one). Too large, too many, not text, no such file: NoProgram or an Error that says which.
Step<Candidate> read_candidate(const std::filesystem::path& path, const std::vector<std::string>& extensions);

inline constexpr std::size_t kMaxSourceBytes = 4 << 20;

}  // namespace kforge
