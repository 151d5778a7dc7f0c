#include "build/compile_stage.h"

#include <csignal>

#include "build/compiler_log.h"

namespace kforge {
namespace {

constexpr std::uint64_t kCompilerMemory = 4ull << 30;
constexpr const char* kTaskHeader = "task.h";

Result<void> stage_file(const fs::path& folder, const SourceFile& file) {
  fs::path path = folder / file.name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail("cannot create {}: {}", path.parent_path().string(), error.message());
  return write_scratch_file(path, file.content);
}

// What the compiler's own words leave unsaid.
std::string explanation(const SandboxExit& exit) {
  auto said = [&](std::string_view words) { return exit.err.find(words) != std::string::npos; };
  if (exit.memory_exceeded || said("virtual memory exhausted") || said("out of memory") ||
      said("Cannot allocate memory") || said("bad_alloc"))
    return fmt::format("error: the compiler used up the {} GiB of memory it may have\n",
                       kCompilerMemory >> 30);
  if (exit.folder_exceeded || said("File size limit exceeded") || said("File too large"))
    return fmt::format("error: the compiled program would be larger than {} MiB\n", kLargestArtefact >> 20);
  if (said("Killed signal terminated") || exit.signal == SIGKILL)
    return "error: the compiler was stopped: it used too much memory or time\n";
  if (said("No such file or directory") || said("Permission denied") || said("file not found"))
    return "note: a program can read the system's headers, task.h and its own files, and nothing else of "
           "this machine\n";
  return "";
}

}  // namespace

Result<Stage> make_stage(const Candidate& candidate, std::string_view task_header,
                         const PrecompiledHeader& header) {
  Stage stage;
  KF_TRY(stage.root, TempDir::create(0755));
  stage.sources = stage.root.path() / "src";
  stage.precompiled = stage.root.path() / "pch";
  stage.output = stage.root.path() / "out";
  for (const fs::path& folder : {stage.sources, stage.precompiled, stage.output}) {
    std::error_code error;
    fs::create_directory(folder, error);
    if (!error) fs::permissions(folder, fs::perms(0755), error);
    if (error) return fail("cannot create {}: {}", folder.string(), error.message());
  }
  for (const SourceFile& file : candidate.files) KF_TRY_VOID(stage_file(stage.sources, file));
  // Last: a file of the same name must not take its place.
  KF_TRY_VOID(stage_file(stage.sources, {kTaskHeader, std::string(task_header)}));
  if (!header.text.empty()) KF_TRY_VOID(stage_precompiled(header, stage.precompiled));
  return stage;
}

std::optional<NoProgram> bad_files(const Candidate& candidate) {
  std::size_t bytes = 0;
  if (candidate.files.empty()) return NoProgram{"there is no source file"};
  if (candidate.files.size() > kMaxSourceFiles)
    return NoProgram{fmt::format("more than {} source files", kMaxSourceFiles)};
  for (const SourceFile& file : candidate.files) {
    bytes += file.content.size();
    if (!good_source_name(file.name))
      return NoProgram{fmt::format("'{}' is not a usable file name", file.name.substr(0, 80))};
  }
  if (bytes > kMaxSourceBytes)
    return NoProgram{
        fmt::format("{} bytes of source: a program may have {} MiB", bytes, kMaxSourceBytes >> 20)};
  return std::nullopt;
}

SandboxSpec compiler_sandbox(const Stage& stage, const std::vector<std::string>& argv,
                             const Platform& platform) {
  const double timeout_seconds = platform.build.timeout_seconds;
  SandboxSpec spec;
  spec.profile = SandboxProfile::kCompile;
  spec.argv = argv;
  spec.readable = platform.readable();
  spec.readable.insert(spec.readable.end(), {stage.sources, stage.precompiled});
  spec.writable = stage.output;
  spec.env = platform.sandbox.env;
  spec.env.insert({{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}});
  spec.limits.wall = std::chrono::milliseconds(static_cast<long>(timeout_seconds * 1e3));
  spec.limits.cpu_seconds = static_cast<std::uint64_t>(timeout_seconds) + 1;
  spec.limits.memory_bytes = kCompilerMemory;
  spec.limits.file_bytes = kLargestArtefact;
  spec.limits.processes = 64;
  spec.limits.output_bytes = 2 << 20;  // remarks on a long program
  return spec;
}

bool failed(const SandboxExit& exit) { return exit.exit_code != 0 || exit.signal != 0 || exit.wall_exceeded; }

Failure compile_failure(const SandboxExit& exit, const Stage& stage, double timeout_seconds) {
  bool out_of_time = exit.wall_exceeded || exit.signal == SIGXCPU ||
                     exit.err.find("CPU time limit exceeded") != std::string::npos;
  if (out_of_time) return Timeout{"compile", timeout_seconds};
  std::string log =
      trim_compiler_log(exit.err, {"../src/", stage.sources.string() + "/", stage.output.string() + "/"});
  log += explanation(exit);
  if (log.empty() && exit.signal != 0)
    log = fmt::format("error: the compiler was ended by signal {}\n", exit.signal);
  if (log.empty())
    log = fmt::format("error: the compiler ended with code {} and said nothing\n", exit.exit_code);
  return CompileError{std::move(log)};
}

}  // namespace kforge
