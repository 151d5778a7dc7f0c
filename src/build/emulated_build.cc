#include "build/emulated_build.h"

#include "base/file_cache.h"
#include "base/hash.h"
#include "build/compile_stage.h"
#include "build/device_build.h"
#include "emulate/emulate.h"
#include "emulate/findings.h"
#include "generate/device_program.h"

namespace kforge {
namespace {

constexpr std::size_t kEmulatedCacheBytes = std::size_t{256} << 20;
constexpr std::size_t kMostMemory = std::size_t{1}
                                    << 30;  // of the plan's own buffers: they are this process's

std::string emulated_key(const emulate::Request& request, std::string_view plan,
                         const std::string& identity) {
  Hasher hasher;
  hasher.add("emulated build 1")
      .add(identity)
      .add(name_of(request.variant))
      .add(request.task_header)
      .add(plan);
  for (const emulate::DeviceSource& file : request.files) hasher.add(file.name).add(file.content);
  for (const PlanMemory& memory : request.plan.memory)
    hasher.add(fmt::format("{} {}", memory.name, memory.bytes));
  return hasher.hex();
}

// What the library shows and asks for, as of any native one.
Step<Build> with_symbols(Build build, const std::string& content) {
  KF_STEP(build.symbols, read_dynamic_symbols(std::as_bytes(std::span(content))));
  build.imports = build.symbols.imports;
  build.exports = build.symbols.exports;
  return build;
}

}  // namespace

BoundTask with_emulator_report(BoundTask task) {
  BoundArgument report;
  report.name = report.c_name = report.output = "kfe_report";
  report.role = Role::kOutput;
  report.dtype = DType::kUInt8;
  report.shape = {static_cast<std::int64_t>(emulate::report_bytes())};
  task.arguments.push_back(std::move(report));
  return task;
}

std::string device_task_header(const BoundTask& task, const PlanSymbols& symbols, bool metal) {
  std::string out = fmt::format(
      "// task.h, made by KForge: dimensions, tunables and the plan's defines (shape set {}).\n#pragma "
      "once\n\nnamespace task {{\n",
      task.shape_set);
  for (const auto& [name, value] : symbols) {
    const bool is_int = value >= INT32_MIN && value <= INT32_MAX;
    out += fmt::format("{}constexpr {} {} = {};\n", metal ? "constant " : "",
                       is_int  ? "int"
                       : metal ? "long"
                               : "long long",
                       name, value);
  }
  return out + "}  // namespace task\n";
}

Step<Build> build_emulated_program(const Candidate& candidate, const Platform& platform,
                                   const BoundTask& task, const BuildOptions& options) {
  if (auto bad = bad_files(candidate)) return candidate_failed(*bad);
  if (auto bad = bad_directive(candidate, "device")) return candidate_failed(*bad);
  emulate::Request request;
  const bool metal = platform.run.driver == DeviceDriver::kMetal;
  request.language = metal ? emulate::Language::kMetal : emulate::Language::kCuda;
  KF_STEP(DeviceProgram program,
          read_device_program(candidate, task, {.most_memory = kMostMemory, .non_uniform = metal}));
  for (const SourceFile& file : candidate.files)
    if (file.name != kPlanFile) request.files.push_back({file.name, file.content});
  request.task_header = device_task_header(task, program.macros, metal);
  request.plan = std::move(program.plan);
  for (const BoundArgument& argument : task.arguments)
    request.params.push_back(argument.role == Role::kParam);
  request.variant = options.variant;
  request.tier = options.tier;
  request.timeout_seconds = platform.build.timeout_seconds;

  KF_TRY(std::string identity, emulate::identity());
  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "builds" / "emulated", kEmulatedCacheBytes);
  const std::string key = emulated_key(request, candidate.plan()->content, identity);
  Build build;
  build.march = fmt::format("emulator, {}", name_of(options.variant));
  if (auto content = options.use_cache ? cache.load(key) : std::nullopt) {
    if (auto path = cache.find(key)) {
      build.artefact = *path;
      build.artefact_hash = sha256_hex(*content);
      build.from_cache = true;
      return with_symbols(std::move(build), *content);
    }
  }
  KF_STEP(emulate::Library library, emulate::build(request));
  build.log = std::move(library.log);
  build.command = std::move(library.command);
  build.seconds = library.seconds;
  build.artefact_hash = sha256_hex(library.content);
  KF_TRY(build.artefact, cache.store(key, library.content));
  return with_symbols(std::move(build), library.content);
}

}  // namespace kforge
