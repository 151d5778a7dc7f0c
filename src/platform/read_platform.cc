#include "platform/read_platform.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

#include "base/files.h"
#include "base/nearest.h"
#include "base/toml_section.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;  // platform.toml, notes.md, imports: all are small

// The libraries a kernel may name where the folder does not say which: the C and C++ run-time and OpenMP.
constexpr const char* kCommonNeeded[] = {"libc.so.6",       "libm.so.6",      "libmvec.so.1",
                                         "libgomp.so.1",    "libstdc++.so.6", "libgcc_s.so.1",
                                         "libpthread.so.0", "ld-linux*.so.*", "libatomic.so.1"};
// Names that a kernel may import, on every native platform; beside the folders of the shipped platforms.
constexpr const char* kCommonImports = "imports.txt";

bool is_native(const Platform& platform) { return platform.kind == PlatformKind::kNative; }

// Every ${name} must be one that is filled in.
void check_variables(TomlSection& section, std::string_view key, const std::string& full,
                     const std::vector<std::string>& argv, std::span<const std::string_view> variables,
                     const std::string& also = "") {
  std::vector<std::string> known(variables.begin(), variables.end());
  if (!also.empty()) known.push_back(also);
  for (const std::string& argument : argv) {
    auto names = variables_in(argument);
    if (!names) return section.mistake(key, fmt::format("'{}': {}", full, names.error().message));
    for (const std::string& name : *names)
      if (std::ranges::find(known, name) == known.end())
        return section.mistake(
            key, fmt::format("'{}': unknown variable ${{{}}}{}", full, name, did_you_mean(name, known)));
  }
}

void check_has(TomlSection& section, std::string_view key, const std::string& full,
               const std::vector<std::string>& argv, std::initializer_list<std::string_view> needed) {
  for (std::string_view word : needed)
    if (std::ranges::find(argv, word) == argv.end())
      section.mistake(key, fmt::format("'{}' has no \"{}\"", full, word));
}

// A key that would be read and have no effect is a mistake.
void only_for(TomlSection& section, std::initializer_list<std::string_view> keys, std::string_view prefix,
              PlatformKind kind, std::string_view kinds) {
  for (std::string_view key : keys)
    if (section.has(key))
      section.mistake(key,
                      fmt::format("'{}{}' belongs to platforms of kind {}; this one is of kind {}: remove it",
                                  prefix, key, kinds, name_of(kind)));
}

void read_native_build(TomlSection& section, Platform::Build& build) {
  build.allowed_flags = section.texts("allowed_flags");
  build.library_flags = section.texts("library_flags");
  build.precompiled = section.texts("precompiled");
  for (TomlSection& row : section.sections("compiler")) {
    build.compilers.push_back({row.text("name", true), row.texts("flags"), row.texts("remarks")});
    row.finish();
  }
  for (TomlSection& row : section.sections("march")) {
    build.march.push_back({row.text("name", true), row.texts("flags"), row.texts("needs")});
    row.finish();
  }
  if (build.argv.empty()) return section.mistake("argv", "'build.argv' is missing or empty");
  if (build.argv[0] != "${compiler}")
    return section.mistake("argv", "'build.argv' must start with \"${compiler}\"");
  check_variables(section, "argv", "build.argv", build.argv, kBuildVariables);
  check_has(section, "argv", "build.argv", build.argv, {"${source}", "${output}"});
  if (build.compilers.empty())
    section.mistake("compiler", "no compiler: add [[build.compiler]] with its name");
}

Platform::Build read_build(TomlSection section, PlatformKind kind) {
  Platform::Build build;
  build.argv = section.texts("argv");
  build.timeout_seconds = section.number("timeout_seconds", build.timeout_seconds, 1, 3600);
  if (kind == PlatformKind::kNative) {
    only_for(section, {"step"}, "build.", kind, "device");
    read_native_build(section, build);
  } else if (kind == PlatformKind::kCommand) {
    only_for(section, {"compiler", "march", "precompiled", "allowed_flags", "library_flags"}, "build.", kind,
             "native");
    only_for(section, {"step"}, "build.", kind, "device");
    check_variables(section, "argv", "build.argv", build.argv, kCommandBuildVariables);
    if (!build.argv.empty()) check_has(section, "argv", "build.argv", build.argv, {"${source}", "${output}"});
    if (build.argv.empty() && section.has("timeout_seconds"))
      section.mistake("timeout_seconds", "'build.timeout_seconds' has no effect without 'build.argv'");
  } else {
    only_for(section, {"compiler", "march", "precompiled", "allowed_flags", "library_flags"}, "build.", kind,
             "native");
    check_variables(section, "argv", "build.argv", build.argv, kDeviceBuildVariables);
    if (!build.argv.empty()) check_has(section, "argv", "build.argv", build.argv, {"${source}", "${output}"});
    for (TomlSection& row : section.sections("step")) {
      build.steps.push_back(row.texts("argv"));
      if (build.steps.back().empty()) row.mistake("argv", "'build.step.argv' is missing or empty");
      check_variables(row, "argv", "build.step.argv", build.steps.back(), kDeviceBuildVariables);
      row.finish();
    }
    if (build.argv.empty() && !build.steps.empty())
      section.mistake("step", "'build.step' has no effect without 'build.argv'");
  }
  section.finish();
  return build;
}

void read_native_run(TomlSection& section, Platform::Run& run) {
  run.machine = section.text("machine");
  run.prefix = section.texts("prefix");
  run.runner = section.texts("runner");
  run.features = section.texts("features");
  if (!run.runner.empty()) {
    if (run.runner[0] != "${compiler}" && run.runner[0].find('$') != std::string::npos)
      section.mistake("runner", "'run.runner' must start with \"${compiler}\" or the name of a program");
    check_variables(section, "runner", "run.runner", run.runner, kRunnerVariables);
    check_has(section, "runner", "run.runner", run.runner, {"${source}", "${output}", "${flags}"});
  }
  for (const char* key : {"runner", "features"})
    if (section.has(key) && run.machine.empty())
      section.mistake(key,
                      fmt::format("'run.{}' has no effect without 'run.machine': say what the programs are "
                                  "compiled for, as `uname -m` names it",
                                  key));
  if (!run.machine.empty() && run.runner.empty())
    section.mistake(
        "machine",
        "'run.runner' is missing: with 'run.machine' KForge's runner is compiled for that machine, and "
        "this is the command");
}

void read_run(TomlSection section, PlatformKind kind, Platform::Run& run) {
  if (kind == PlatformKind::kNative) {
    only_for(section, {"driver"}, "run.", kind, "device");
    read_native_run(section, run);
  } else {
    only_for(section, {"machine", "prefix", "runner", "features"}, "run.", kind, "native");
  }
  if (kind == PlatformKind::kCommand) {
    only_for(section, {"driver"}, "run.", kind, "device");
    run.command = section.texts("command");
    check_variables(section, "command", "run.command", run.command, kRunVariables);
    const bool names_program = std::ranges::any_of(
        run.command, [](const std::string& word) { return word.find("${program}") != std::string::npos; });
    if (!names_program)
      section.mistake(
          "command",
          "'run.command' is missing or has no \"${program}\": what runs a program, before --calls n "
          "--inputs FILE --outputs FILE");
  } else {
    only_for(section, {"command"}, "run.", kind, "command");
  }
  constexpr DeviceDriver kDrivers[] = {DeviceDriver::kOpenCl, DeviceDriver::kVulkan, DeviceDriver::kCuda,
                                       DeviceDriver::kMetal};
  std::string driver = section.one_of("driver", {"opencl", "vulkan", "cuda", "metal"}, "opencl");
  if (kind == PlatformKind::kDevice) {
    if (!section.has("driver"))
      section.mistake("driver", "'run.driver' is missing: opencl, vulkan, cuda or metal");
    for (DeviceDriver known : kDrivers)
      if (name_of(known) == driver) run.driver = known;
  }
  section.finish();
}

void read_probe(TomlSection section, PlatformKind kind, Platform::Probe& probe) {
  probe.argv = section.texts("argv");
  probe.library = section.text("library");
  probe.remedy = section.text("remedy");
  if (kind == PlatformKind::kCommand) {
    probe.emulated = section.text("emulated");
    if (!probe.emulated.empty() && probe.argv.empty())
      section.mistake(
          "emulated",
          "'probe.emulated' has no effect without 'probe.argv', whose answer it is looked for in");
  } else {
    only_for(section, {"emulated"}, "probe.", kind, "command");
  }
  section.finish();
}

// Paths are absolute, or lie in the platform's folder.
std::vector<fs::path> paths_of(TomlSection& section, std::string_view key, const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const std::string& text : section.texts(key)) {
    fs::path path = (folder / text).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (path == "/" || text.empty())
      section.mistake(key,
                      fmt::format("'sandbox.{}': '{}' would show programs the whole machine", key, text));
    paths.push_back(std::move(path));
  }
  return paths;
}

void read_sandbox(TomlSection section, const Platform& platform, Platform::Sandbox& sandbox) {
  const bool native = is_native(platform);
  std::string profile = section.one_of("profile", {"native", "driver"}, native ? "native" : "driver");
  if (!native && profile == "native")
    section.mistake("profile",
                    "'sandbox.profile' \"native\" belongs to kind native: drivers and commands make code "
                    "at run time, which it forbids; leave the key out");
  // An emulator makes code at run time.
  if (native && platform.emulated()) {
    if (section.has("profile") && profile == "native")
      section.mistake("profile",
                      "'sandbox.profile' must be \"driver\" with an emulator ('run.prefix'): it makes code "
                      "at run time, which \"native\" forbids");
    profile = "driver";
  }
  sandbox.profile = profile == "driver" ? SandboxProfile::kDriver : SandboxProfile::kNative;
  sandbox.read = paths_of(section, "read", platform.folder);
  sandbox.devices = paths_of(section, "devices", platform.folder);
  for (const fs::path& device : sandbox.devices)
    if (!device.string().starts_with("/dev/"))
      section.mistake("devices",
                      fmt::format("'sandbox.devices': '{}' is not below /dev; files and folders are named "
                                  "in 'sandbox.read'",
                                  device.string()));
  sandbox.env = section.text_map("env");
  sandbox.reserves_addresses = section.flag("reserves_addresses", false);
  if (sandbox.reserves_addresses && sandbox.profile != SandboxProfile::kDriver)
    section.mistake(
        "reserves_addresses",
        "'sandbox.reserves_addresses' is for drivers and commands: a native program that reserves "
        "addresses asks for memory; leave the key out");
  section.finish();
}

void read_peaks(TomlSection& top, std::map<std::string, double>& peaks) {
  peaks = top.number_map("peaks");
  std::vector<std::string> known(std::begin(kPeakNames), std::end(kPeakNames));
  for (const auto& [name, value] : peaks) {
    if (std::ranges::find(known, name) == known.end())
      top.mistake("peaks", fmt::format("unknown key 'peaks.{}'{}", name, did_you_mean(name, known)));
    if (!(value > 0) || !std::isfinite(value))
      top.mistake("peaks", fmt::format("'peaks.{}' must be more than 0", name));
  }
}

// What profilers and the cost model have in common: a command, and the program it is run on.
void read_command(TomlSection& section, const char* what, Profiler& profiler) {
  profiler.name = section.text("name", true);
  profiler.argv = section.texts("argv");
  profiler.runs = section.one_of("runs", {"tool", "kernel", "attach", "window"}, "tool");
  profiler.march = section.text("march");
  profiler.build_flags = section.texts("build_flags");
  profiler.threads = static_cast<int>(section.number("threads", 0, 0, 1024));
  profiler.timeout_seconds = section.number("timeout_seconds", profiler.timeout_seconds, 1, 3600);
  profiler.remedy = section.text("remedy");
  check_variables(section, "argv", fmt::format("{}.argv", what), profiler.argv, kProfilerVariables,
                  profiler.after);
}

Profiler read_profiler(TomlSection section) {
  Profiler profiler;
  profiler.gives = section.one_of("gives", {"facts", "text", "picture"}, "");
  profiler.parser = section.one_of("parser", {std::begin(kParserNames), std::end(kParserNames)}, "");
  profiler.when = section.one_of("when", {"always", "asked"}, "always");
  profiler.after = section.text("after");
  profiler.product = section.text("product");
  read_command(section, "profiler", profiler);
  if (profiler.product.find('/') != std::string::npos)
    section.mistake("product", "'profiler.product' is a plain file name");
  section.finish();
  return profiler;
}

// The program is behind the platform's own runner: there is no library to take apart or to call.
void check_command_profiler(TomlSection& section, const Profiler& profiler) {
  constexpr std::string_view kFiles[] = {"output", "platform", "platforms", "sources"};
  check_variables(section, "argv", "profiler.argv", profiler.argv, kFiles, profiler.after);
  for (const char* key : {"build_flags", "march", "threads"})
    if (section.has(key))
      section.mistake(key, fmt::format("'profiler.{}' has no effect on a command platform: remove it", key));
  if (profiler.runs != "tool") section.mistake("runs", "'profiler.runs' is \"tool\" on a command platform");
}

Chip read_chip(TomlSection section) {
  Chip chip;
  chip.name = section.text("name", true);
  chip.architecture = section.text("architecture");
  for (const ChipKey& key : kChipKeys) {
    if (!section.has(key.key))
      section.mistake(std::string(key.key),
                      fmt::format("'model.chip.{}' is missing: docs/cost_model.md says what it is", key.key));
    chip.*key.field = section.number(key.key, 0, 0, 1e9);
    // Nothing may be reserved, and nothing may wait at a barrier; all else is divided by or multiplied with.
    const bool may_be_zero =
        key.key == "shared_kb_reserved" || key.key == "barrier_clocks" || key.key == "launch_us";
    if (section.has(key.key) && !may_be_zero && !(chip.*key.field > 0))
      section.mistake(std::string(key.key), fmt::format("'model.chip.{}' must be more than 0", key.key));
  }
  section.finish();
  return chip;
}

CostModel read_model(TomlSection section, const Platform& platform) {
  CostModel model;
  if (!section.has("builtin")) {
    model.version = section.text("version", true);
    read_command(section, "model", model.command);
    if (model.command.argv.empty()) section.mistake("argv", "'model.argv' is missing or empty");
    if (model.command.runs != "tool" && model.command.runs != "kernel")
      section.mistake("runs", "'model.runs' is \"tool\" or \"kernel\"");
    section.finish();
    return model;
  }
  model.command.name = section.one_of("builtin", {std::string(kSimtModel)}, "");
  model.version = kSimtVersion;
  model.chip = read_chip(section.section("chip"));
  if (platform.kind != PlatformKind::kDevice ||
      (platform.run.driver != DeviceDriver::kCuda && platform.run.driver != DeviceDriver::kMetal))
    section.mistake(
        "builtin",
        "'model.builtin' is for programs that KForge's emulator runs: kind \"device\" with 'run.driver' "
        "\"cuda\" or \"metal\"");
  section.finish();
  return model;
}

// Words separated by white space; '#' starts a comment.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line.substr(0, line.find('#')));
    for (std::string word; parts >> word;) words.push_back(word);
  }
  return words;
}

Result<void> add_imports(const fs::path& file, std::vector<std::string>& imports) {
  KF_TRY(std::string text, read_file(file, kFileLimit));
  for (std::string& word : words_of(text)) imports.push_back(std::move(word));
  return {};
}

// Patterns given in place, and those of a file: one beside platform.toml, else the common one.
Result<void> read_symbols(TomlSection section, Platform& platform) {
  if (!is_native(platform)) {
    only_for(section, {"imports", "imports_file", "library_imports", "needed", "library_needed"}, "symbols.",
             platform.kind, "native");
    section.finish();
    return {};
  }
  platform.allowed_imports = section.texts("imports");
  platform.library_imports = section.texts("library_imports");
  platform.allowed_needed = section.texts("needed");
  platform.library_needed = section.texts("library_needed");
  if (!section.has("needed"))
    platform.allowed_needed.assign(std::begin(kCommonNeeded), std::end(kCommonNeeded));
  std::string file = section.text("imports_file");
  if (file.find('/') != std::string::npos || file.starts_with("..")) {
    section.mistake("imports_file", "'symbols.imports_file' must be a file beside platform.toml");
  } else if (!file.empty()) {
    KF_TRY_VOID(add_imports(platform.folder / file, platform.allowed_imports));
  } else {
    KF_TRY(fs::path root, data_root());
    KF_TRY_VOID(add_imports(root / "platforms" / kCommonImports, platform.allowed_imports));
  }
  section.finish();
  return {};
}

PlatformKind kind_of(std::string_view name) {
  for (PlatformKind kind : {PlatformKind::kDevice, PlatformKind::kCommand})
    if (name_of(kind) == name) return kind;
  return PlatformKind::kNative;
}

void read_models(TomlSection& top, Platform& platform) {
  if (platform.objective == Objective::kModel || top.has("model"))
    platform.model = read_model(top.section("model"), platform);
  if (platform.kind == PlatformKind::kCommand && platform.model)
    return top.mistake(
        "model",
        "commands have no [model]: their programs are timed, or, where the probe's answer has the "
        "word 'probe.emulated', only verified; leave it and 'objective' out");
  const bool may_be_emulated = !platform.run.machine.empty() || (platform.model && platform.model->chip);
  if (platform.objective == Objective::kTime && top.has("model") && !may_be_emulated)
    top.mistake("model",
                "[model] has no effect with objective \"time\": set objective = \"model\", or 'run.machine' "
                "where programs run under an emulator");
}

// Sources of native platforms and devices are of C's kin.
void read_comment(TomlSection& top, Platform& platform) {
  if (platform.kind != PlatformKind::kCommand)
    return only_for(top, {"comment"}, "", platform.kind, "command");
  platform.comment = top.text("comment", true);
  const bool usable =
      platform.comment.size() <= 4 &&
      std::ranges::all_of(platform.comment, [](unsigned char c) { return c > ' ' && c <= '~'; });
  if (!usable)
    top.mistake("comment", "'comment' is what begins a comment that fills a line: \"#\", \"!\", \"--\"");
}

Result<void> fill(Platform& platform, TomlSection& top) {
  platform.description = top.text("description", true);
  platform.kind = kind_of(top.one_of("kind", {"native", "device", "command"}, ""));
  platform.language = top.text("language", true);
  platform.files = top.texts("files");
  for (const std::string& ending : platform.files)
    if (!ending.starts_with('.'))
      top.mistake("files", fmt::format("'files': '{}' must start with a dot", ending));
  if (platform.files.empty()) top.mistake("files", "'files' is missing: the endings a program may have");
  read_comment(top, platform);
  platform.objective =
      top.one_of("objective", {"time", "model"}, "time") == "model" ? Objective::kModel : Objective::kTime;
  platform.build = read_build(top.section("build"), platform.kind);
  read_run(top.section("run"), platform.kind, platform.run);
  read_probe(top.section("probe"), platform.kind, platform.probe);
  read_sandbox(top.section("sandbox"), platform, platform.sandbox);
  read_peaks(top, platform.peaks);
  read_models(top, platform);
  for (TomlSection& row : top.sections("profiler")) {
    platform.profilers.push_back(read_profiler(row));
    if (platform.kind == PlatformKind::kCommand) check_command_profiler(row, platform.profilers.back());
  }
  KF_TRY_VOID(read_symbols(top.section("symbols"), platform));
  top.finish();
  return {};
}

}  // namespace

Result<Platform> read_platform(const fs::path& folder) {
  fs::path file = folder / "platform.toml";
  KF_TRY(std::string text, read_file(file, kFileLimit));
  KF_TRY(toml::table table, parse_toml(text, file.string()));
  Platform platform;
  platform.folder = fs::absolute(folder).lexically_normal();
  if (!platform.folder.has_filename()) platform.folder = platform.folder.parent_path();
  platform.name = platform.folder.filename().string();
  TomlMistakes mistakes(file.string(), "docs/adding_a_platform.md lists every key");
  TomlSection top(table, "", mistakes);
  KF_TRY_VOID(fill(platform, top));
  if (mistakes.first()) return std::unexpected(*mistakes.first());
  if (auto notes = read_file(folder / "notes.md", kFileLimit)) platform.notes = std::move(*notes);
  KF_TRY(platform.content_hash, hash_of_folder(platform.folder));
  return platform;
}

}  // namespace kforge
