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

struct Compiler {
  std::string name;                // looked up in PATH: "g++"
  std::vector<std::string> flags;  // replaces ${compiler_flags} in argv
  std::vector<std::string>
      remarks;  // replaces ${remarks} in a profiler's build_flags: makes it explain itself
};

// One way to look at a program; src/profile/ runs them in the order of the file.
struct Profiler {
  std::string name;
  std::vector<std::string> argv;  // the command; empty: the parser needs none. See kProfilerVariables
  std::string gives;              // "facts", "text" or "picture"
  std::string parser;             // who reads what it says: a name from profile/parsers.cc
  std::string when = "always";    // "always", or "asked": only when named, because it is slow
  // What the command is: "tool" (works on files), "kernel" (runs the program), "attach" (a trusted program
  // that watches one that runs), "window" (opens a window on a virtual screen).
  std::string runs = "tool";
  std::string after;    // a profiler whose product this one reads; without it this one is left out
  std::string product;  // name of the file the command writes; empty: it prints
  std::string march;    // flag set of a build of its own; empty: the program's
  std::vector<std::string> build_flags;  // added to the compiler line in a build of its own
  int threads = 0;                       // the program runs with; 0: as many as it is timed with
  double timeout_seconds = 30;
  std::string remedy;  // what to install
};

// Ranks programs where nothing can be timed: a command that prints "modelled_ns NUMBER", run like a profiler.
struct CostModel {
  std::string version;  // results of two versions are not compared
  Profiler command;     // its name is the model's
};

struct Platform {
  std::string name;
  std::filesystem::path folder;
  std::string description;
  std::string kind;                // "native", "device" or "command"
  std::string language;            // "C++"
  std::vector<std::string> files;  // extensions a candidate may have, main file first: ".cc", ".h"
  std::string objective;           // "time" or "model"

  struct Build {
    std::vector<std::string> argv;           // see kBuildVariables for what may stand in it
    std::vector<Compiler> compilers;         // the first is the default; the candidate may choose another
    std::vector<std::string> allowed_flags;  // patterns; "// kforge: flags -funroll-loops" picks from them
    std::vector<std::string> library_flags;  // further ones with --allow-libraries: "-ldnnl"
    std::vector<FlagSet> march;              // best first
    std::vector<std::string> precompiled;    // headers that go into the precompiled one; empty: none is made
    double timeout_seconds = 60;
  } build;
  struct Run {
    std::string driver;               // "native", ...
    std::vector<std::string> prefix;  // qemu and the like
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
  std::map<std::string, double> peaks;  // given peaks; empty: measured
  std::vector<Profiler> profilers;
  std::optional<CostModel> model;            // with objective "model"
  std::vector<std::string> allowed_imports;  // patterns of symbols a native candidate may import (glob.h)
  std::vector<std::string> library_imports;  // further ones with --allow-libraries
  std::vector<std::string> allowed_needed;   // shared libraries its file may name, patterns
  std::vector<std::string> library_needed;   // further ones with --allow-libraries
  std::string notes;                         // notes.md
};

// What may stand in [build] argv, each as ${name}.
inline constexpr std::string_view kBuildVariables[] = {
    "compiler",        // REQUIRED as argv[0]: the compiler's path
    "compiler_flags",  // its own flags
    "march",           // flags of the flag set
    "flags",           // what the candidate chose among allowed_flags
    "include",         // folder of the sources and task.h
    "pch",             // what makes the compiler read the precompiled header
    "source",          // the files to compile
    "output",          // the artefact
};

// What may stand in the argv of a profiler, each as ${name}, besides the name of the profiler it comes
// `after` (the path of that one's product).
inline constexpr std::string_view kProfilerVariables[] = {
    "artefact",  // the compiled program
    "call",      // the command that calls the program's kernel (several arguments)
    "hot_loop",  // file with the hot loop's assembly, once a parser has found it
    "mcpu",      // what follows -march= in the compiler line
    "output",    // path of the product
    "pid",       // of the running program ("attach")
    "platform",  // the platform's folder
    "sources",   // folder with the program's sources
};

// `spec` is a name in data_root()/platforms or a path (anything with a slash, or an existing folder with a
// platform.toml). Unknown keys and wrong types are errors with file and line; a misspelt name gets the
// nearest one.
Result<Platform> load_platform(std::string_view spec);
Result<std::vector<Platform>> load_all_platforms();

struct Readiness {
  bool ready = false;
  std::string reason;  // why not, or the version that answered
  std::string remedy;
};
// Answers quickly: no task is run. `kforge platforms check` runs the example.
Readiness probe_platform(const Platform& platform);

}  // namespace kforge
