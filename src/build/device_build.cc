// The steps: read the plan, look into the cache, compile each kernel by [build] where the platform has one,
// let the driver compile and compare the rest, keep the package.
#include "build/device_build.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "build/compile_stage.h"
#include "build/compiler_log.h"
#include "build/emulated_build.h"
#include "device/device_package.h"
#include "generate/device_program.h"
#include "platform/programs.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPackageCacheBytes = std::size_t{256} << 20;
constexpr const char* kPackageName = "package";
constexpr const char* kDeviceTaskHeader = "task.h";

// A quarter of the device's memory, rounded to a power of two: what drivers on a processor report changes
// from minute to minute, and the same program must stay the same.
DeviceLimits limits_of(const DeviceFacts& facts, const Platform& platform) {
  const std::uint64_t room = std::bit_floor(std::min(facts.memory_bytes / 4, facts.largest_buffer));
  return {facts.most_threads, static_cast<std::size_t>(room), platform.run.driver == DeviceDriver::kMetal};
}

DevicePackage package_of(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                         const DeviceProgram& program) {
  DevicePackage package;
  package.api = name_of(*platform.run.driver);
  // Languages whose headers macros would break have their symbols in task.h.
  const bool has_header = platform.has_emulator();
  for (const SourceFile& file : candidate.files)
    if (file.name != kPlanFile && !(has_header && file.name == kDeviceTaskHeader))
      package.files.push_back({file.name, file.content});
  if (has_header)
    package.files.push_back(
        {kDeviceTaskHeader,
         device_task_header(task, program.macros, platform.run.driver == DeviceDriver::kMetal)});
  package.macros = program.macros;
  package.plan = candidate.plan()->content;
  package.setting = program.setting;
  return package;
}

// Whatever is another driver, device or platform is another program.
std::string cache_key(const DevicePackage& package, const Platform& platform, const DeviceFacts& facts) {
  Hasher hasher;
  hasher.add("device build 1")
      .add(platform.content_hash)
      .add(facts.name)
      .add(facts.version)
      .add(facts.driver);
  hasher.add(to_bytes(package));
  return hasher.hex();
}

// -D of everything that the source may use, and of what the plan says about this kernel.
std::vector<std::string> defines_of(const DeviceProgram& program, const PlanLaunch& launch) {
  std::vector<std::string> words;
  for (const auto& [name, value] : program.macros) words.push_back(fmt::format("-D{}={}", name, value));
  for (std::size_t i = 0; i < 3; ++i)
    words.push_back(fmt::format("-DBLOCK_{}={}", "XYZ"[i], launch.block[i]));
  words.push_back(fmt::format("-DSHARED_BYTES={}", launch.shared_bytes));
  return words;
}

// The kernels of a plan, each with its first launch.
std::map<std::string, const PlanLaunch*> launches_of(const LaunchPlan& plan) {
  std::map<std::string, const PlanLaunch*> found;
  for (const auto* steps : {&plan.prepare, &plan.run})
    for (const PlanStep& step : *steps)
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) found.emplace(launch->kernel, launch);
  return found;
}

// [build]: its command and further steps, once for each kernel of the plan.
class KernelCompiler {
 public:
  KernelCompiler(const Platform& platform, const BuildOptions& options, const DeviceProgram& program,
                 Build& build)
      : platform_(platform), options_(options), program_(program), build_(build) {}

  Step<bool> compile(const Candidate& candidate, DevicePackage& package) {
    KF_TRY(Stage stage, make_stage(candidate, "", {}));
    for (const auto& [name, launch] : launches_of(program_.plan)) {
      Substitutions values = {{"defines", defines_of(program_, *launch)},
                              {"include", {"../src"}},
                              {"kernel", {name}},
                              {"output", {kOutput}},
                              {"source", {"../src/" + candidate.files.front().name}}};
      KF_STEP(std::string code, run(stage, platform_.build.argv, values));
      if (code.empty())
        return candidate_failed(CompileError{
            fmt::format("error: {} left nothing usable for kernel '{}'\n", platform_.build.argv[0], name)});
      // Each command runs under a uid of its own: what one made is handed to the next.
      values["input"] = {std::string("../pch/") + kInput};
      for (const auto& step : platform_.build.steps) {
        KF_TRY_VOID(write_scratch_file(stage.precompiled / kInput, code));
        KF_STEP(std::string changed, run(stage, step, values));
        if (!changed.empty()) code = std::move(changed);
      }
      package.binaries[name] = std::move(code);
    }
    return true;
  }

 private:
  static constexpr const char *kInput = "kernel.in", *kOutput = "kernel.out";

  // What the command left as its output; "" where it left none.
  Step<std::string> run(const Stage& stage, const std::vector<std::string>& argv,
                        const Substitutions& values) {
    KF_TRY(std::vector<std::string> command, substitute(argv, values));
    auto program = find_program(command[0], platform_.sandbox.read);
    if (!program)
      return fail_with_remedy(
          platform_.probe.remedy,
          fmt::format("{} is not installed below /usr, nor in a folder of 'sandbox.read'", command[0]));
    command[0] = program->string();
    if (build_.command.empty()) build_.command = command;
    std::error_code ignored;
    fs::remove(stage.output / kOutput, ignored);
    const auto start = Clock::now();
    KF_TRY(auto process, start_sandboxed(compiler_sandbox(stage, command, platform_), options_.tier));
    KF_TRY(SandboxExit exit, process->wait());
    build_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (!failed(exit)) return read_product(stage.output, kOutput, kLargestArtefact).value_or("");
    // Some compilers for devices print their messages.
    exit.err = exit.out + exit.err;
    return candidate_failed(compile_failure(exit, stage, platform_.build.timeout_seconds));
  }

  const Platform& platform_;
  const BuildOptions& options_;
  const DeviceProgram& program_;
  Build& build_;
};

// The driver's own compiler, in the sandbox in which it will run: it gives what it compiled, and finds what
// the plan and the kernels' signatures say differently.
Step<std::string> compile_by_driver(const DevicePackage& package, const Platform& platform,
                                    const BuildOptions& options, Build& build) {
  KF_TRY(fs::path program, helper_program("kforge-device"));
  KF_TRY(TempDir stage, TempDir::create(0755));
  const fs::path input = stage.path() / kPackageName, output = stage.path() / "out";
  KF_TRY_VOID(write_scratch_file(input, to_bytes(package)));
  std::error_code error;
  fs::create_directory(output, error);
  if (error) return fail("cannot create {}: {}", output.string(), error.message());
  SandboxSpec spec;
  spec.profile = SandboxProfile::kDriver;
  spec.argv = {program.string(), "--compile", input.string(), (output / kPackageName).string()};
  spec.readable = platform.readable();
  spec.readable.push_back(input);
  spec.writable = output;
  spec.env = platform.sandbox.env;
  spec.env.emplace("PATH", "/usr/bin:/bin");
  spec.env.emplace("LC_ALL", "C");
  spec.limits.wall = std::chrono::milliseconds(static_cast<long>(platform.build.timeout_seconds * 1e3));
  spec.limits.cpu_seconds = static_cast<std::uint64_t>(platform.build.timeout_seconds) + 1;
  spec.limits.reserves_addresses = platform.sandbox.reserves_addresses;
  const auto start = Clock::now();
  KF_TRY(auto process, start_sandboxed(spec, options.tier));
  KF_TRY(SandboxExit exit, process->wait());
  build.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (exit.wall_exceeded) return candidate_failed(Timeout{"compile", platform.build.timeout_seconds});
  build.log += trim_compiler_log(exit.out, {});
  if (exit.exit_code == 1) return candidate_failed(CompileError{build.log});
  // A driver's compiler that falls over the source: the candidate's business, as with any compiler.
  if (exit.signal != 0 || exit.exit_code != 0)
    return candidate_failed(CompileError{fmt::format(
        "{}error: the device's compiler ended with {} {}: {}\n", build.log, exit.signal ? "signal" : "code",
        exit.signal ? exit.signal : exit.exit_code, trim_compiler_log(exit.err, {}))});
  KF_TRY(std::string made, read_product(output, kPackageName, kLargestArtefact));
  return made;
}

}  // namespace

std::optional<CompileError> bad_directive(const Candidate& candidate, std::string_view kind) {
  static const std::vector<std::string> kKnown = {"general", "arithmetic", "algebraic", "tune"};
  for (const Candidate::Directive& directive : candidate.directives())
    if (std::ranges::find(kKnown, directive.key) == kKnown.end())
      return CompileError{fmt::format("{}:{}: error: unknown directive '{}' on a {} platform{}\n",
                                      candidate.files[0].name, directive.line, directive.key.substr(0, 60),
                                      kind, did_you_mean(directive.key, kKnown))};
  return std::nullopt;
}

Step<Build> build_device_program(const Candidate& candidate, const Platform& platform, const BoundTask& task,
                                 const BuildOptions& options) {
  if (auto bad = bad_files(candidate)) return candidate_failed(*bad);
  if (auto bad = bad_directive(candidate, "device")) return candidate_failed(*bad);
  KF_TRY(DeviceFacts facts, device_facts(platform));
  KF_STEP(DeviceProgram program, read_device_program(candidate, task, limits_of(facts, platform)));
  DevicePackage package = package_of(candidate, platform, task, program);

  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "builds" / "device", kPackageCacheBytes);
  const std::string key = cache_key(package, platform, facts);
  Build build;
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
    KF_STEP([[maybe_unused]] bool compiled,
            KernelCompiler(platform, options, program, build).compile(candidate, package));
  }
  if (build.command.empty()) build.command = {package.api, facts.version};
  KF_STEP(std::string made, compile_by_driver(package, platform, options, build));
  build.artefact_hash = sha256_hex(made);
  (void)cache.store(key + "-log", build.log);
  KF_TRY(build.artefact, cache.store(key, made));
  return build;
}

}  // namespace kforge
