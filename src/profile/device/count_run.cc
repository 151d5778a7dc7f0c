#include "profile/device/count_run.h"

#include <algorithm>

#include "base/memory.h"
#include "build/emulated_build.h"
#include "execute/fill.h"
#include "execute/staged_program.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLoadLimit{20'000}, kWholeLimit{8'000}, kPartialLimit{40'000}, kPrepareLimit{60'000};

void limit(ProgramSpec& spec, const BoundTask& task) {
  std::size_t tensors = 0;
  for (const BoundArgument& argument : task.arguments) tensors += argument.bytes();
  spec.threads = 1;
  spec.limits.wall = std::chrono::hours(1);  // each call has its own limit
  spec.limits.cpu_seconds = 3600;
  spec.limits.memory_bytes = std::min((std::size_t{4} << 30) + 16 * tensors, physical_memory() / 8 * 3);
}

// One call; nothing: it took too long.
Result<std::optional<emulate::Report>> counted_call(const ProfileInput& input, const StagedProgram& program,
                                                    const BoundTask& task, const fs::path& library,
                                                    bool partial) {
  KF_TRY(InputMemory memory, InputMemory::create(task, 1));
  const InputChoice choice{InputKind::kOwn, input.seed};
  fill_params(*input.task, memory, choice);
  fill_inputs(*input.task, memory, choice, 0);
  KF_TRY(auto process, ProgramProcess::start(program.spec, task, memory, kLoadLimit));
  if (!process) return fail("the counting build does not run: {}", reason_text(process.error()));
  reset_outputs(*input.task, (*process)->outputs(), choice, 0);
  const std::span<std::byte> report = (*process)->outputs().tensor(task.arguments.size() - 1, 0);
  emulate::ask_for_counts(report, input.seed, partial);
  KF_TRY(auto prepared, (*process)->prepare(kPrepareLimit));
  if (!prepared) return fail("prepare did not end under the counters: {}", reason_text(prepared.error()));
  KF_TRY(auto called, (*process)->call({0}, partial ? kPartialLimit : kWholeLimit));
  if (!called && std::holds_alternative<Timeout>(called.error())) return std::nullopt;
  if (!called) return fail("the call did not end under the counters: {}", reason_text(called.error()));
  KF_TRY(emulate::Report found, emulate::read_report(report, library, input.tier));
  return found;
}

}  // namespace

Result<DeviceCounts> count_device(const ProfileInput& input) {
  KF_CHECK(input.task && input.platform && input.machine && input.candidate, "counting needs a program");
  BuildOptions options;
  options.tier = input.tier;
  options.variant = emulate::Variant::kCount;
  KF_TRY(auto built,
         build_candidate(*input.candidate, *input.platform, *input.task, *input.machine, options));
  if (!built) return fail("the counting build fails: {}", reason_text(built.error()));
  const BoundTask task = with_emulator_report(*input.task);
  KF_TRY(RunSetting setting, run_setting(*input.platform));
  KF_TRY(StagedProgram program, stage_program("candidate, counted", setting, built->artefact, input.tier));
  limit(program.spec, task);
  program.spec.cpus = input.machine->cpus;
  DeviceCounts counts{{}, built->artefact, false};
  KF_TRY(auto report, counted_call(input, program, task, built->artefact, false));
  if (!report) {
    counts.partial = true;
    KF_TRY(report, counted_call(input, program, task, built->artefact, true));
  }
  if (!report) return fail("even some blocks of the program take too long under the counters");
  if (!report->findings.empty())
    return fail("what the program does under the counters is no measure: {}",
                report->findings.front().sentence());
  if (report->overflowed) return fail("the program does more between two barriers than the counters keep");
  counts.report = std::move(*report);
  return counts;
}

}  // namespace kforge
