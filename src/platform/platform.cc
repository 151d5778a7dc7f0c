#include "platform/platform.h"

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/nearest.h"
#include "base/toml_section.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;  // platform.toml, notes.md, imports: all are small

// Every ${name} must be one that the build fills in, and the compiler comes first.
void check_argv(TomlSection& section, const std::vector<std::string>& argv) {
  if (argv.empty()) return section.mistake("argv", "'build.argv' is missing or empty");
  if (argv[0] != "${compiler}")
    return section.mistake("argv", "'build.argv' must start with \"${compiler}\"");
  std::vector<std::string> known(std::begin(kBuildVariables), std::end(kBuildVariables));
  for (const std::string& argument : argv) {
    auto names = variables_in(argument);
    if (!names) return section.mistake("argv", "'build.argv': " + names.error().message);
    for (const std::string& name : *names)
      if (std::ranges::find(known, name) == known.end())
        return section.mistake(
            "argv", fmt::format("'build.argv': unknown variable ${{{}}}{}", name, did_you_mean(name, known)));
  }
  for (std::string_view needed : {"${source}", "${output}"})
    if (std::ranges::find(argv, needed) == argv.end())
      section.mistake("argv", fmt::format("'build.argv' has no \"{}\"", needed));
}

Platform::Build read_build(TomlSection section) {
  Platform::Build build;
  build.argv = section.texts("argv");
  build.allowed_flags = section.texts("allowed_flags");
  build.library_flags = section.texts("library_flags");
  build.precompiled = section.texts("precompiled");
  build.timeout_seconds = section.number("timeout_seconds", build.timeout_seconds, 1, 3600);
  for (TomlSection& row : section.sections("compiler")) {
    build.compilers.push_back({row.text("name", true), row.texts("flags"), row.texts("remarks")});
    row.finish();
  }
  for (TomlSection& row : section.sections("march")) {
    build.march.push_back({row.text("name", true), row.texts("flags"), row.texts("needs")});
    row.finish();
  }
  check_argv(section, build.argv);
  if (build.compilers.empty())
    section.mistake("compiler", "no compiler: add [[build.compiler]] with its name");
  section.finish();
  return build;
}

void read_run(TomlSection section, Platform::Run& run) {
  run.driver = section.one_of("driver", {"native", "opencl", "vulkan", "cuda", "metal", "command"}, "");
  run.prefix = section.texts("prefix");
  section.finish();
}

void read_probe(TomlSection section, Platform::Probe& probe) {
  probe.argv = section.texts("argv");
  probe.library = section.text("library");
  probe.trial = section.text("trial");
  probe.remedy = section.text("remedy");
  section.finish();
}

void read_sandbox(TomlSection section, Platform::Sandbox& sandbox) {
  sandbox.profile = section.one_of("profile", {"native", "driver", "compile"}, "native");
  sandbox.read = section.texts("read");
  sandbox.devices = section.texts("devices");
  sandbox.env = section.text_map("env");
  section.finish();
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
  std::vector<std::string> known(std::begin(kProfilerVariables), std::end(kProfilerVariables));
  if (!profiler.after.empty()) known.push_back(profiler.after);
  for (const std::string& argument : profiler.argv) {
    auto names = variables_in(argument);
    if (!names) section.mistake("argv", fmt::format("'{}.argv': {}", what, names.error().message));
    for (const std::string& name : names.value_or(std::vector<std::string>()))
      if (std::ranges::find(known, name) == known.end())
        section.mistake("argv", fmt::format("'{}.argv': unknown variable ${{{}}}{}", what, name,
                                            did_you_mean(name, known)));
  }
}

Profiler read_profiler(TomlSection section) {
  Profiler profiler;
  profiler.gives = section.one_of("gives", {"facts", "text", "picture"}, "");
  profiler.parser = section.text("parser");
  profiler.when = section.one_of("when", {"always", "asked"}, "always");
  profiler.after = section.text("after");
  profiler.product = section.text("product");
  read_command(section, "profiler", profiler);
  if (profiler.product.find('/') != std::string::npos)
    section.mistake("product", "'profiler.product' is a plain file name");
  section.finish();
  return profiler;
}

CostModel read_model(TomlSection section) {
  CostModel model;
  model.version = section.text("version", true);
  read_command(section, "model", model.command);
  if (model.command.argv.empty()) section.mistake("argv", "'model.argv' is missing or empty");
  if (model.command.runs != "tool" && model.command.runs != "kernel")
    section.mistake("runs", "'model.runs' is \"tool\" or \"kernel\"");
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

// Patterns given in place, and those of a file beside platform.toml.
Result<void> read_symbols(TomlSection section, Platform& platform) {
  platform.allowed_imports = section.texts("imports");
  platform.library_imports = section.texts("library_imports");
  platform.allowed_needed = section.texts("needed");
  platform.library_needed = section.texts("library_needed");
  std::string file = section.text("imports_file");
  if (!file.empty() && (file.find('/') != std::string::npos || file.starts_with(".."))) {
    section.mistake("imports_file", "'symbols.imports_file' must be a file beside platform.toml");
  } else if (!file.empty()) {
    KF_TRY(std::string text, read_file(platform.folder / file, kFileLimit));
    for (std::string& word : words_of(text)) platform.allowed_imports.push_back(std::move(word));
  }
  section.finish();
  return {};
}

Result<void> fill(Platform& platform, TomlSection& top) {
  platform.description = top.text("description", true);
  platform.kind = top.one_of("kind", {"native", "device", "command"}, "");
  platform.language = top.text("language", true);
  platform.files = top.texts("files");
  for (const std::string& ending : platform.files)
    if (!ending.starts_with('.'))
      top.mistake("files", fmt::format("'files': '{}' must start with a dot", ending));
  if (platform.files.empty()) top.mistake("files", "'files' is missing: the endings a program may have");
  platform.objective = top.one_of("objective", {"time", "model"}, "time");
  platform.build = read_build(top.section("build"));
  read_run(top.section("run"), platform.run);
  read_probe(top.section("probe"), platform.probe);
  read_sandbox(top.section("sandbox"), platform.sandbox);
  platform.peaks = top.number_map("peaks");
  if (platform.objective == "model" && platform.kind == "native")
    platform.model = read_model(top.section("model"));
  for (TomlSection& row : top.sections("profiler")) platform.profilers.push_back(read_profiler(row));
  KF_TRY_VOID(read_symbols(top.section("symbols"), platform));
  top.finish();
  return {};
}

Result<Platform> load_folder(const fs::path& folder) {
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
  return platform;
}

Result<std::vector<std::string>> platform_names() {
  KF_TRY(fs::path root, data_root());
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(root / "platforms", error), end; !error && it != end; it.increment(error))
    if (fs::exists(it->path() / "platform.toml", error)) names.push_back(it->path().filename().string());
  if (error) return fail("cannot read {}: {}", (root / "platforms").string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<Platform> load_platform(std::string_view spec) {
  fs::path path(spec);
  std::error_code ignored;
  if (spec.find('/') != std::string_view::npos || fs::exists(path / "platform.toml", ignored)) {
    if (!fs::exists(path / "platform.toml", ignored))
      return fail_with_remedy("a platform is a folder with platform.toml, notes.md and example/",
                              fmt::format("no platform.toml in {}", spec));
    return load_folder(path);
  }
  KF_TRY(std::vector<std::string> names, platform_names());
  if (std::ranges::find(names, spec) == names.end())
    return fail_with_remedy("`kforge platforms` lists them; a folder of your own is given by its path",
                            fmt::format("no platform '{}'{}", spec, did_you_mean(spec, names)));
  KF_TRY(fs::path root, data_root());
  return load_folder(root / "platforms" / path);
}

Result<std::vector<Platform>> load_all_platforms() {
  KF_TRY(std::vector<std::string> names, platform_names());
  std::vector<Platform> platforms;
  for (const std::string& name : names) {
    KF_TRY(Platform platform, load_platform(name));
    platforms.push_back(std::move(platform));
  }
  return platforms;
}

}  // namespace kforge
