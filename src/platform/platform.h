// A platform is a folder: platform.toml, notes.md, example/. This is what KForge reads from it.
// docs/adding_a_platform.md has the schema.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct FlagSet {
  std::string name;                // "avx512", "avx2", "portable"
  std::vector<std::string> flags;  // replaces ${march} in argv
  std::vector<std::string> needs;  // machine features it needs: "avx512f", "amx"
};

struct Profiler {
  std::string name;
  std::vector<std::string> argv;
  std::string gives;   // "facts", "text" or "picture"
  std::string parser;
};

struct Platform {
  std::string name;
  std::filesystem::path folder;
  std::string description;
  std::string kind;                    // "native", "device" or "command"
  std::string language;                // "C++"
  std::vector<std::string> files;      // extensions a candidate may have, main file first: ".cc", ".h"
  std::string objective;               // "time" or "model"

  struct Build {
    std::vector<std::string> argv;     // ${source} ${output} ${include} ${march} ${flags} ${pch}
    std::vector<std::string> compilers;          // argv[0] may be chosen among these by the candidate
    std::vector<std::string> allowed_flags;      // patterns; "// kforge: flags -funroll-loops" picks from them
    std::vector<FlagSet> march;                  // best first
    std::vector<std::string> precompiled;        // headers that go into the precompiled one
    double timeout_seconds = 60;
  } build;
  struct Run {
    std::string driver;                // "native", ...
    std::vector<std::string> prefix;   // qemu and the like
  } run;
  struct Probe {
    std::vector<std::string> argv;
    std::string library, trial, remedy;
  } probe;
  struct Sandbox {
    std::string profile = "native";
    std::vector<std::string> read, devices;
    std::map<std::string, std::string> env;
  } sandbox;
  std::map<std::string, double> peaks;       // given peaks; empty: measured
  std::vector<Profiler> profilers;
  std::vector<std::string> allowed_imports;  // patterns of symbols a native candidate may import
  std::vector<std::string> library_imports;  // further ones with --allow-libraries
};

// `spec` is a name in data_root()/platforms or a path. Unknown keys and wrong types are errors with file and line.
Result<Platform> load_platform(std::string_view spec);
Result<std::vector<Platform>> load_all_platforms();

struct Readiness {
  bool ready = false;
  std::string reason;   // why not, or the version that answered
  std::string remedy;
};
Readiness probe_platform(const Platform& platform);

}  // namespace kforge
