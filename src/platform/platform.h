// A platform is a folder: platform.toml, notes.md, example/. This is what KForge reads from it.
// docs/adding_a_platform.md has the schema; every key there has an effect or is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device_facts.h"
#include "platform/chip.h"
#include "sandbox/sandbox.h"

namespace kforge {

// What a program for the platform is, and so who runs it.
enum class PlatformKind : std::uint8_t {
  kNative,   // a shared library with `kernel`; the runner loads it, under an emulator where there must be one
  kDevice,   // device source and a launch plan; the host side is KForge's own
  kCommand,  // anything that the platform's own runner can call
};
std::string_view name_of(PlatformKind kind);  // "native", "device", "command"

enum class Objective : std::uint8_t { kTime, kModel };
std::string_view name_of(Objective objective);  // "time", "model"

// The interfaces that device programs are run through.
enum class DeviceDriver : std::uint8_t { kOpenCl, kVulkan, kCuda, kMetal };
std::string_view name_of(DeviceDriver driver);  // "opencl", ...

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

// Ranks programs where nothing can be timed: a command that prints "modelled_ns NUMBER", run like a profiler;
// or, for devices that KForge emulates, the built-in model of a chip (profile/device/simt_model.h).
struct CostModel {
  std::string version;        // results of two versions are not compared
  Profiler command;           // its name is the model's
  std::optional<Chip> chip;   // of the built-in model; the command is then empty
  std::string label() const;  // "instructions 1", "simt 1, NVIDIA H100 SXM": shown with every figure
};
// The version of the built-in model: raised whenever it gives a program another figure.
inline constexpr std::string_view kSimtModel = "simt", kSimtVersion = "1";

struct Platform {
  std::string name;
  std::filesystem::path folder;
  std::string description;
  std::string content_hash;  // of the folder's files: results name what they were made with
  PlatformKind kind = PlatformKind::kNative;
  std::string language;            // "C++"
  std::vector<std::string> files;  // extensions a candidate may have, main file first: ".cc", ".h"
  // What begins a comment that fills a line; directives stand in such lines: "// kforge: general".
  std::string comment = "//";
  Objective objective = Objective::kTime;

  struct Build {
    // One command; on devices and for commands it may be absent. See kBuildVariables for what may stand in
    // it.
    std::vector<std::string> argv;
    // Device: further commands on what argv made, in this order: validate, optimise.
    std::vector<std::vector<std::string>> steps;
    std::vector<Compiler> compilers;         // the first is the default; the candidate may choose another
    std::vector<std::string> allowed_flags;  // patterns; "// kforge: flags -funroll-loops" picks from them
    std::vector<std::string> library_flags;  // further ones with --allow-libraries: "-ldnnl"
    std::vector<FlagSet> march;              // best first
    std::vector<std::string> precompiled;    // headers that go into the precompiled one; empty: none is made
    double timeout_seconds = 60;
  } build;
  struct Run {
    // Native: what programs are compiled for, as `uname -m` says it ("aarch64"); "": the machine KForge runs
    // on.
    std::string machine;
    // Native: put before the runner where `machine` is another one than this, or always where it is not
    // given: "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu".
    std::vector<std::string> prefix;
    // Native, with another machine: the command that compiles KForge's own children for it; see
    // kRunnerVariables.
    std::vector<std::string> runner;
    std::vector<std::string> features;   // of the emulated processor, for `needs` of flag sets
    std::optional<DeviceDriver> driver;  // device
    // Command: what runs a program, before --calls n --inputs FILE --outputs FILE; see kRunVariables.
    std::vector<std::string> command;
  } run;
  struct Probe {
    std::vector<std::string> argv;  // answers with its version, inside the sandbox
    std::string library, remedy;
    std::string emulated;  // command: a word of the answer that says that nothing can be timed; "": none does
  } probe;
  struct Sandbox {
    SandboxProfile profile = SandboxProfile::kNative;  // of running programs: kNative or kDriver
    std::vector<std::filesystem::path> read;           // besides the system's: toolchains outside /usr
    std::vector<std::filesystem::path> devices;        // below /dev
    std::map<std::string, std::string> env;            // of compilers and programs
    bool reserves_addresses = false;                   // its drivers do: SandboxLimits::reserves_addresses
  } sandbox;
  std::map<std::string, double> peaks;  // given instead of measured, by the names of kPeakNames
  std::vector<Profiler> profilers;
  std::optional<CostModel> model;            // ranks where nothing can be timed
  std::vector<std::string> allowed_imports;  // patterns of symbols a native candidate may import (glob.h)
  std::vector<std::string> library_imports;  // further ones with --allow-libraries
  std::vector<std::string> allowed_needed;   // shared libraries its file may name, patterns
  std::vector<std::string> library_needed;   // further ones with --allow-libraries
  std::string notes;                         // notes.md

  // Programs are for another machine than this one: they run, if at all, under an emulator, and no time that
  // they take says anything.
  bool emulated() const;
  // Of kind device, in a language that KForge has an emulator for.
  bool has_emulator() const;
  // And no such device opens here (looked for once in a process): its programs are built into native
  // libraries (emulate/emulate.h).
  bool emulates_device() const;
  // What stands before the runner here.
  const std::vector<std::string>& prefix_here() const;
  // What a sandboxed compiler or program may read besides its own files.
  std::vector<std::filesystem::path> readable() const;
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

// The same on devices (one command for each kernel of the plan).
inline constexpr std::string_view kDeviceBuildVariables[] = {
    "defines",  // -D of the dimensions, tunables, the plan's defines, and of the kernel's BLOCK_X,
                // SHARED_BYTES, ...
    "include",  // folder of the sources
    "input",    // of a further step: what the command before it made
    "kernel",   // the kernel's name
    "output",   // the artefact
    "source",   // the main file
};

// The same for commands.
inline constexpr std::string_view kCommandBuildVariables[] = {
    "defines",   // -D of the dimensions and tunables
    "include",   // folder of the sources
    "output",    // the program
    "platform",  // a copy of the files in the platform's folder
    "source",    // the main file
};

// What may stand in [run] command.
inline constexpr std::string_view kRunVariables[] = {
    "platform",  // a copy of the files in the platform's folder
    "program",   // what [build] made; without it the main file
};

// What may stand in [run] runner, each as ${name}.
inline constexpr std::string_view kRunnerVariables[] = {
    "compiler",  // the platform's first compiler
    "flags",     // what each child needs: macros, and -fno-builtin for the guarded heap
    "include",   // folder of KForge's headers
    "source",    // files to compile
    "output",    // the program
};

// [peaks]: figures of the device that are given, not measured.
inline constexpr std::string_view kPeakNames[] = {"fp32_gflops", "fp64_gflops", "amx_bf16_gflops",
                                                  "memory_gb_s"};

// Who reads what a profiler says; profile/parsers.cc has a function for each.
inline constexpr std::string_view kParserNames[] = {
    "roofline", "samples", "hot_loop", "mca",  "remarks", "perf_stat", "callgrind", "png",
    "text",     "facts",   "ncu",      "nsys", "rocprof", "emulator",  "ptxas",
};

// What may stand in the argv of a profiler, each as ${name}, besides the name of the profiler it comes
// `after` (the path of that one's product).
inline constexpr std::string_view kProfilerVariables[] = {
    "artefact",      // the compiled program
    "call",          // the command that calls the program's kernel (several arguments), with the emulator
    "count_plugin",  // a plugin for qemu-user that counts instructions (profile/counter)
    "hot_loop",      // file with the hot loop's assembly, once a parser has found it
    "mcpu",          // what follows -march= in the compiler line
    "output",        // path of the product
    "pid",           // of the running program ("attach")
    "platform",      // a copy of the files in the platform's folder
    "platforms",     // a copy of the files that all platforms share
    "sources",       // folder with the program's sources
};

// `spec` is the name of a folder in data_root()/platforms or kforge_home()/platforms, or a path (anything
// with a slash, or an existing folder with a platform.toml). Unknown keys, wrong types and keys of another
// kind are errors with file and line; a misspelt name gets the nearest one.
Result<Platform> load_platform(std::string_view spec);

// Every folder with a platform.toml, shipped ones first: one that is broken hides no other.
struct ListedPlatform {
  std::string name;
  std::filesystem::path folder;
  Result<Platform> platform;
};
Result<std::vector<ListedPlatform>> list_platforms();

// The plain files that lie in the folder itself, for those who run with the platform: runners, scripts.
// Neither platform.toml nor notes.md; an Error where they are more than 16 MiB.
struct PlatformFile {
  std::string name, content;
};
Result<std::vector<PlatformFile>> own_files(const Platform& platform);

// A hash over the names and contents of the folder's files.
Result<std::string> hash_of_folder(const std::filesystem::path& folder);

struct Readiness {
  enum class State : std::uint8_t { kReady, kEmulated, kMissing };
  State state = State::kMissing;
  std::string reason;  // why not, or the version that answered
  std::string remedy;
  std::optional<DeviceFacts> device = {};  // of a device platform that is ready

  bool usable() const { return state != State::kMissing; }
};
std::string_view name_of(Readiness::State state);  // "ready", "emulated", "missing"
// Answers quickly: what the platform needs is looked for inside the sandbox, and no task is run.
// `kforge platforms check` runs the example.
Readiness probe_platform(const Platform& platform);

// What the device of a device platform says of itself, asked once in a process. An Error where it is missing.
Result<DeviceFacts> device_facts(const Platform& platform);

}  // namespace kforge
