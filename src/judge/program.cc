#include "judge/program.h"

#include <algorithm>

#include "base/memory.h"
#include "base/readable.h"
#include "build/source_place.h"
#include "build/symbols.h"
#include "execute/waiting_runners.h"
#include "judge/workspace.h"
#include "machine/spin.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

ProgramSpec limited(const Workspace& workspace, ProgramSpec spec, const BoundTask& task) {
  const JudgeSetup& setup = workspace.setup();
  std::size_t tensors = 0;
  for (const BoundArgument& argument : task.arguments) tensors += argument.bytes();
  spec.stop = workspace.stop();
  spec.threads = setup.threads;
  spec.cpus = setup.machine.cpus;
  spec.limits.wall = std::chrono::hours(1);  // each call has its own limit
  spec.limits.cpu_seconds = 3600;
  // Two processes of a program may hold memory at once: the second that is checked, or the best so far beside
  // a challenger.
  spec.limits.memory_bytes = std::min((std::size_t{4} << 30) + 16 * tensors, physical_memory() / 8 * 3);
  spec.together_bytes = physical_memory() / 4 * 3;
  spec.limits.processes = 4 * static_cast<std::uint64_t>(setup.threads) + 64;
  return spec;
}

// The loader has no more to say than that it cannot map a segment.
std::optional<NoProgram> too_large_to_load(const Workspace& workspace, const BoundTask& task,
                                           const Build& build) {
  const std::uint64_t limit = limited(workspace, {}, task).limits.memory_bytes;
  if (build.symbols.memory_bytes <= limit) return std::nullopt;
  return NoProgram{
      fmt::format("its static memory does not fit: loading it takes {}, and a program may have {} here; make "
                  "large arrays "
                  "smaller, or allocate what is needed",
                  readable_bytes(static_cast<double>(build.symbols.memory_bytes)),
                  readable_bytes(static_cast<double>(limit)))};
}

}  // namespace

BuildOptions build_options(const JudgeSetup& setup) {
  const JudgeOptions& options = setup.options;
  return {setup.tier, options.march, options.use_build_cache, options.allow_libraries};
}

Step<Build> build_program(const Workspace& workspace, const Candidate& candidate, const BoundTask& task,
                          Stopwatch* watch) {
  const JudgeSetup& setup = workspace.setup();
  workspace.progress().stage("compiling");
  Stopwatch own;
  auto built = build_candidate(candidate, setup.platform, task, setup.machine, build_options(setup));
  if (built && *built)
    if (auto too_large = too_large_to_load(workspace, task, **built)) return candidate_failed(*too_large);
  if (!watch) return built;
  watch->add("build", own.total());
  if (built && built->has_value() && !(*built)->from_cache) watch->add("compiler", (*built)->seconds);
  if (built && !built->has_value() && std::holds_alternative<CompileError>(built->error()))
    watch->add("compiler", own.total());
  return built;
}

Step<Build> planned_build(const JudgeSetup& setup) {
  return planned_build(setup.platform, setup.machine, build_options(setup));
}

GateFinding judge_symbols(const JudgeSetup& setup, const Build& build) {
  const Platform& platform = setup.platform;
  if (!judged_on(GateStage::kSymbols, name_of(platform.kind)))
    return passed(Gate::kSymbols, "there are none");
  std::vector<std::string> imports = platform.allowed_imports, needed = platform.allowed_needed;
  if (setup.options.allow_libraries) {
    imports.insert(imports.end(), platform.library_imports.begin(), platform.library_imports.end());
    needed.insert(needed.end(), platform.library_needed.begin(), platform.library_needed.end());
  }
  if (auto rejected = check_symbols(build.symbols, imports, needed, platform.run.machine))
    return std::unexpected(*rejected);
  return passed(Gate::kSymbols,
                fmt::format("imports {} listed names, defines none of the system's", build.imports.size()));
}

Result<StagedProgram> stage_program(const Workspace& workspace, std::string name, const Build& build,
                                    const BoundTask& task) {
  KF_TRY(StagedProgram program,
         stage_program(std::move(name), workspace.setup().run, build.artefact, workspace.setup().tier));
  program.spec = limited(workspace, std::move(program.spec), task);
  return program;
}

Result<StagedProgram> waiting_program(const Workspace& workspace, const BoundTask& task, bool values_only) {
  constexpr milliseconds kStartLimit{20'000};
  KF_TRY(StagedProgram program, stage_runner("candidate", workspace.setup().run, workspace.setup().tier));
  program.spec = limited(workspace, std::move(program.spec), task);
  int all = workspace.setup().threads;
  std::vector<int> threads = {all, 1};
  if (!values_only) threads.insert(threads.end(), {all, all});
  program.spec.waiting = std::make_shared<WaitingRunners>(program.spec, threads, kStartLimit);
  return program;
}

void locate_crash(const JudgeSetup& setup, Failure& failure, const Candidate& candidate, const Build& build,
                  const BoundTask& task) {
  auto* crash = std::get_if<Crash>(&failure);
  if (!crash || crash->frames.empty()) return;
  auto places = source_places(crash->frames, candidate, build, setup.platform, task, setup.machine,
                              build_options(setup));
  if (places) crash->where = to_text(*places);  // else the offsets stand
}

Result<ModelledTime> model_time(const JudgeSetup& setup, const Candidate& candidate, const Build& build,
                                const BoundTask& task, std::uint64_t seed) {
  ProfileInput input;
  input.task = &task;
  input.platform = &setup.platform;
  input.machine = &setup.machine;
  input.candidate = &candidate;
  input.build = &build;
  input.tier = setup.tier;
  input.threads = setup.threads;
  input.allow_libraries = setup.options.allow_libraries;
  input.seed = seed;
  return modelled_time(input, *setup.platform.model);
}

TimingOptions timing_options(const JudgeSetup& setup, const JudgeContext& context) {
  TimingOptions timing;
  timing.cold = setup.options.cold;
  timing.cpus = setup.machine.cpus;
  timing.evict_bytes = evict_bytes_per_core(setup.machine);
  timing.call_limit = context.call_limit;
  return timing;
}

}  // namespace kforge
