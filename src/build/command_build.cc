// The steps: what the program is called with, look into the cache, compile by [build] where the platform has
// one, put the program and the platform's own files into one package.
#include "build/command_build.h"

#include <sys/stat.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "build/compile_stage.h"
#include "build/compiler_log.h"
#include "build/device_build.h"
#include "command/command_package.h"
#include "command/safetensors.h"
#include "generate/device_program.h"
#include "platform/programs.h"
#include "platform/substitute.h"
#include "task/module_numbers.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCommandCacheBytes = std::size_t{256} << 20;
constexpr const char* kBuiltProgram = "program";

Result<std::string> path_of_program(const Platform& platform, const std::string& name) {
  if (auto program = find_program(name, platform.sandbox.read)) return program->string();
  return fail_with_remedy(
      platform.probe.remedy,
      fmt::format("{} is not installed below /usr, nor in a folder of 'sandbox.read'", name));
}

Result<std::vector<CommandTensor>> tensors_of(const BoundTask& task) {
  std::vector<CommandTensor> tensors;
  for (const BoundArgument& argument : task.arguments) {
    if (safetensors_name(argument.dtype).empty())
      return fail("{} is of type {}, which safetensors files do not have", argument.c_name,
                  name_of(argument.dtype));
    const Role role = argument.role;
    tensors.push_back({argument.c_name, argument.dtype, argument.shape, role == Role::kParam,
                       role != Role::kOutput, role == Role::kOutput || role == Role::kInout});
  }
  return tensors;
}

// The PyTorch module that a task comes from, for runners that know what to do with one, and what reads it.
Result<void> add_module(const BoundTask& task, CommandPackage& package) {
  if (!task.task->module) return {};
  KF_TRY(fs::path data, data_root());
  auto add = [&](const char* name, std::string content) {
    package.files.push_back({fmt::format("{}/{}", kPlatformFolder, name), std::move(content), false});
  };
  const ModuleNumbers numbers = module_numbers(task);
  add("reference.py", task.task->module->text);
  add("reference.json", nlohmann::json{{"numbers", numbers.numbers}, {"small", numbers.small}}.dump());
  for (const char* part : {"source", "problem"}) {
    KF_TRY(std::string text, read_file(data / "python" / "kforge_bridge" / (std::string(part) + ".py")));
    add((std::string("kforge_") + part + ".py").c_str(), std::move(text));
  }
  return {};
}

// Everything but the program: that is the source, or what [build] makes of it.
Step<CommandPackage> package_of(const Candidate& candidate, const Platform& platform, const BoundTask& task) {
  CommandPackage package;
  package.argv = platform.run.command;
  if (package.argv[0].find('$') == std::string::npos) {
    KF_TRY(package.argv[0], path_of_program(platform, package.argv[0]));
  }
  KF_TRY(package.tensors, tensors_of(task));
  auto setting = plan_setting(candidate, task, {});
  if (!setting) return candidate_failed(setting.error());
  package.symbols = {setting->dimensions.begin(), setting->dimensions.end()};
  KF_TRY(auto files, own_files(platform));
  for (PlatformFile& file : files)
    package.files.push_back(
        {fmt::format("{}/{}", kPlatformFolder, file.name), std::move(file.content), true});
  KF_TRY_VOID(add_module(task, package));
  for (const SourceFile& file : candidate.files)
    package.files.push_back({fmt::format("{}/{}", kProgramFolder, file.name), file.content, false});
  package.program = fmt::format("{}/{}", kProgramFolder, candidate.files.front().name);
  return package;
}

// A compiler or interpreter that was replaced makes another program.
void add_program(Hasher& hasher, const std::string& path) {
  struct stat about {};
  if (path.find('$') != std::string::npos || ::stat(path.c_str(), &about) != 0) return;
  hasher.add(path).add(std::to_string(about.st_size)).add(std::to_string(about.st_mtim.tv_sec));
}

Step<std::string> compile(const Candidate& candidate, const Platform& platform, const CommandPackage& package,
                          const BuildOptions& options, Build& build) {
  KF_TRY(Stage stage, make_stage(candidate, "", {}));
  for (const PackageFile& file : package.files)
    if (file.path.starts_with(kPlatformFolder))
      KF_TRY_VOID(write_scratch_file(stage.precompiled / fs::path(file.path).filename(), file.content));
  std::vector<std::string> defines;
  for (const auto& [name, value] : package.symbols) defines.push_back(fmt::format("-D{}={}", name, value));
  KF_TRY(build.command,
         substitute(platform.build.argv, {{"defines", defines},
                                          {"include", {"../src"}},
                                          {"output", {kBuiltProgram}},
                                          {"platform", {"../pch"}},
                                          {"source", {"../src/" + candidate.files.front().name}}}));
  KF_TRY(build.command[0], path_of_program(platform, build.command[0]));
  const auto start = Clock::now();
  KF_TRY(auto process, start_sandboxed(compiler_sandbox(stage, build.command, platform), options.tier));
  KF_TRY(SandboxExit exit, process->wait());
  build.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  exit.err = exit.out + exit.err;
  if (failed(exit)) return candidate_failed(compile_failure(exit, stage, platform.build.timeout_seconds));
  build.log = trim_compiler_log(exit.err, {"../src/"});
  auto made = read_product(stage.output, kBuiltProgram, kLargestArtefact);
  if (!made || made->empty())
    return candidate_failed(CompileError{fmt::format("error: {} left no program\n", platform.build.argv[0])});
  return *made;
}

}  // namespace

Step<Build> build_command_program(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                                  const BuildOptions& options) {
  if (auto bad = bad_files(candidate)) return candidate_failed(*bad);
  if (auto bad = bad_directive(candidate, "command")) return candidate_failed(*bad);
  KF_STEP(CommandPackage package, package_of(candidate, platform, task));
  Build build;
  build.command = package.argv;
  Hasher hasher;
  hasher.add("command build 1").add(platform.content_hash).add(to_bytes(package));
  add_program(hasher, package.argv[0]);
  if (!platform.build.argv.empty()) {
    KF_TRY(std::string compiler, path_of_program(platform, platform.build.argv[0]));
    add_program(hasher, compiler);
  }
  const std::string key = hasher.hex();
  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "builds" / "command", kCommandCacheBytes);
  if (options.use_cache) {
    auto content = cache.load(key);
    auto log = content ? cache.load(key + "-log") : std::nullopt;
    auto path = log ? cache.find(key) : std::nullopt;
    if (path) {
      build.artefact = *path;
      build.artefact_hash = sha256_hex(*content);
      build.log = *log;
      build.from_cache = true;
      return build;
    }
  }
  if (!platform.build.argv.empty()) {
    KF_STEP(std::string program, compile(candidate, platform, package, options, build));
    std::erase_if(package.files,
                  [](const PackageFile& file) { return file.path.starts_with(kProgramFolder); });
    package.program = fmt::format("{}/{}", kProgramFolder, kBuiltProgram);
    package.files.push_back({package.program, std::move(program), true});
  }
  const std::string made = to_bytes(package);
  build.artefact_hash = sha256_hex(made);
  (void)cache.store(key + "-log", build.log);
  KF_TRY(build.artefact, cache.store(key, made));
  return build;
}

}  // namespace kforge
