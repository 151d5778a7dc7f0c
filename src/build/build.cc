// The steps of a build: choose, look into the cache, stage, compile in the sandbox, take the library, keep
// it.
#include "build/build.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/file_cache.h"
#include "base/hash.h"
#include "build/choices.h"
#include "build/compile_stage.h"
#include "build/compiler_log.h"
#include "build/precompiled.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBuildCacheBytes = std::size_t{1} << 30;
constexpr const char* kArtefactName = "kernel.so";

// The main file and every other one with its ending; headers are found through them.
std::vector<std::string> files_to_compile(const Candidate& candidate) {
  std::vector<std::string> paths;
  std::string ending = fs::path(candidate.files[0].name).extension().string();
  for (const SourceFile& file : candidate.files)
    if (fs::path(file.name).extension() == ending) paths.push_back("../src/" + file.name);
  return paths;
}

Result<std::vector<std::string>> command_line(const Candidate& candidate, const Platform& platform,
                                              const BuildChoices& choices, bool with_prelude,
                                              const std::vector<std::string>& extra_flags) {
  std::vector<std::string> flags = choices.flags, prelude;
  flags.insert(flags.end(), extra_flags.begin(), extra_flags.end());
  if (with_prelude) prelude = {"-include", std::string("../pch/") + kPrecompiledName};
  return substitute(platform.build.argv, {{"compiler", {choices.compiler_path.string()}},
                                          {"compiler_flags", choices.compiler.flags},
                                          {"march", choices.march.flags},
                                          {"flags", flags},
                                          {"include", {"../src"}},
                                          {"pch", prelude},
                                          {"source", files_to_compile(candidate)},
                                          {"output", {kArtefactName}}});
}

Step<std::string> take_artefact(const fs::path& folder) {
  auto content = read_product(folder, kArtefactName, kLargestArtefact);
  if (!content || content->empty())
    return candidate_failed(CompileError{"error: the compiler left no usable library\n"});
  return std::move(*content);
}

// A program that compiles but cannot be called is not compiled yet.
std::optional<CompileError> missing_entry(const DynamicSymbols& symbols) {
  auto has = [&](std::string_view name) {
    return std::ranges::any_of(symbols.definitions,
                               [&](const DefinedSymbol& s) { return s.name == name && s.is_function; });
  };
  if (has("kernel")) return std::nullopt;
  if (has("kernel_prepared") && has("prepare")) return std::nullopt;
  if (has("kernel_prepared") || has("prepare"))
    return CompileError{fmt::format(
        "error: {} is defined but {} is not: the three belong together (prepare, kernel_prepared, release)\n",
        has("prepare") ? "prepare" : "kernel_prepared", has("prepare") ? "kernel_prepared" : "prepare")};
  for (const std::string& name : symbols.exports)
    if (name.starts_with("_Z6kernel") || name.starts_with("_Z15kernel_prepared"))
      return CompileError{
          "error: the function has C++ linkage or other parameters than task.h declares: include task.h and "
          "define it "
          "as extern \"C\", with exactly those parameters\n"};
  return CompileError{
      "error: no function kernel (and no kernel_prepared) is defined, or it is static: define what task.h "
      "declares\n"};
}

std::string cache_key(const Candidate& candidate, std::string_view task_header, const BuildChoices& choices,
                      const std::vector<std::string>& argv, const Platform& platform) {
  Hasher hasher;
  hasher.add("build 1").add(choices.compiler_identity).add(candidate.content_hash()).add(task_header);
  for (const std::string& header : platform.build.precompiled) hasher.add(header);
  for (const auto& [name, value] : platform.sandbox.env) hasher.add(name).add(value);
  for (const std::string& word : argv) hasher.add(word);
  return hasher.hex();
}

// Beside each library in the cache: what was said and how long it took when it was made.
struct Record {
  std::string log;
  double seconds = 0;
};
std::string to_json(const Record& record) {
  return nlohmann::json{{"log", record.log}, {"seconds", record.seconds}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}
std::optional<Record> record_from(const std::string& text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("log") || !json["log"].is_string() || !json.contains("seconds") ||
      !json["seconds"].is_number())
    return std::nullopt;
  return Record{json["log"], json["seconds"]};
}

// The library's symbols and everything that is known without compiling.
Step<Build> finish(Build build, std::span<const std::byte> content, const Platform& platform) {
  KF_STEP(build.symbols, read_dynamic_symbols(content, elf_machine(platform.run.machine)));
  if (auto missing = missing_entry(build.symbols)) return candidate_failed(*missing);
  build.imports = build.symbols.imports;
  build.exports = build.symbols.exports;
  return build;
}

// One run of the compiler; Build::seconds is what it took.
Result<SandboxExit> compile(const Stage& stage, Build& build, const Platform& platform,
                            const BuildOptions& options) {
  auto start = Clock::now();
  KF_TRY(auto process, start_sandboxed(compiler_sandbox(stage, build.command, platform), options.tier));
  KF_TRY(SandboxExit exit, process->wait());
  build.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return exit;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

Step<Build> planned_build(const Platform& platform, const Machine& machine, const BuildOptions& options) {
  if (platform.kind != PlatformKind::kNative) {
    Build build;
    build.command = platform.build.argv;
    return build;
  }
  Candidate program;
  program.files = {{"kernel" + platform.files.front(), ""}};
  KF_STEP(BuildChoices choices, choose(program, platform, machine, options));
  Build build;
  build.march = choices.march.name;
  KF_TRY(build.command, command_line(program, platform, choices, !platform.build.precompiled.empty(), {}));
  return build;
}

Step<Build> build_with_header(const Candidate& candidate, const Platform& platform,
                              std::string_view task_header, const Machine& machine,
                              const BuildOptions& options) {
  if (auto bad = bad_files(candidate)) return candidate_failed(*bad);
  KF_STEP(BuildChoices choices, choose(candidate, platform, machine, options));
  bool with_prelude = !platform.build.precompiled.empty();
  Build build;
  KF_TRY(build.command, command_line(candidate, platform, choices, with_prelude, options.extra_flags));
  build.march = choices.march.name;

  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "builds", kBuildCacheBytes);
  std::string key = cache_key(candidate, task_header, choices, build.command, platform);
  if (options.raw_log) key = sha256_hex(key + " raw");
  if (options.use_cache) {
    auto content = cache.load(key);
    auto record_text = content ? cache.load(key + "-record") : std::nullopt;
    auto record = record_text ? record_from(*record_text) : std::nullopt;
    auto path = record ? cache.find(key) : std::nullopt;
    if (path) {
      build.artefact = *path;
      build.artefact_hash = sha256_hex(*content);
      build.log = record->log;
      build.seconds = record->seconds;
      build.from_cache = true;
      return finish(std::move(build), bytes_of(*content), platform);
    }
  }

  PrecompiledHeader header = precompiled_header(platform, choices);
  KF_TRY(Stage stage, make_stage(candidate, task_header, header));
  KF_TRY(SandboxExit exit, compile(stage, build, platform, options));
  if (failed(exit) && !still_sound(header)) {
    // The compiler stumbled over a damaged file of ours, not over the candidate.
    KF_TRY(stage, make_stage(candidate, task_header, precompiled_header(platform, choices)));
    KF_TRY(exit, compile(stage, build, platform, options));
  }
  if (failed(exit)) return candidate_failed(compile_failure(exit, stage, platform.build.timeout_seconds));

  KF_STEP(std::string content, take_artefact(stage.output));
  build.log = options.raw_log ? exit.err
                              : trim_compiler_log(exit.err, {"../src/", stage.sources.string() + "/",
                                                             stage.output.string() + "/"});
  build.artefact_hash = sha256_hex(content);
  KF_STEP(build, finish(std::move(build), bytes_of(content), platform));
  (void)cache.store(key + "-record", to_json({build.log, build.seconds}));
  // The library must lie somewhere for the run, so here a cache that cannot be written is an error.
  KF_TRY(build.artefact, cache.store(key, content));
  return build;
}

}  // namespace kforge
