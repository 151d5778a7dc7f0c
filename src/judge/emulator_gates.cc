#include "judge/emulator_gates.h"

#include <algorithm>

#include "build/emulated_build.h"
#include "emulate/findings.h"
#include "execute/fill.h"
#include "judge/program.h"

namespace kforge {
namespace {

using emulate::FindingKind;

Gate gate_for(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace:
      return Gate::kRaces;
    case FindingKind::kOutOfBounds:
    case FindingKind::kUnwritten:
    case FindingKind::kLimit:
      return Gate::kBounds;
    default:
      return Gate::kBarriers;
  }
}

// One call of the program on the task's own inputs; its report.
Step<emulate::Report> checked_call(Workspace& workspace, const Build& build, const BoundTask& task,
                                   const JudgeContext& context) {
  const BoundTask reporting = with_emulator_report(task);
  KF_TRY(StagedProgram program, stage_program(workspace, "candidate, checked", build, reporting));
  KF_TRY(InputMemory memory, InputMemory::create(reporting, 1));
  const InputChoice choice{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
  fill_params(task, memory, choice);
  fill_inputs(task, memory, choice, 0);
  KF_STEP(auto process, ProgramProcess::start(program.spec, reporting, memory, context.load_limit));
  reset_outputs(task, process->outputs(), choice, 0);
  KF_STEP([[maybe_unused]] CallTime prepared, process->prepare(context.call_limit));
  KF_STEP([[maybe_unused]] CallTime called, process->call({0}, context.call_limit));
  KF_TRY(emulate::Report report,
         emulate::read_report(process->outputs().tensor(reporting.arguments.size() - 1, 0), build.artefact,
                              workspace.setup().tier));
  return report;
}

}  // namespace

Result<void> judge_by_emulator(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                               Stopwatch& watch, Verdict& verdict) {
  constexpr Gate kGates[] = {Gate::kRaces, Gate::kBounds, Gate::kBarriers};
  const JudgeSetup& setup = workspace.setup();
  // A general program is looked at on its small shapes: the history of every word is worth its time there
  // only.
  std::optional<BoundTask> small;
  if (candidate.claims_general() && asked.shape_set != "small" && setup.task.shapes.contains("small")) {
    KF_TRY(small, bind_task(setup.task, "small"));
  }
  const BoundTask& task = small ? *small : asked;
  BuildOptions options = build_options(setup);
  options.variant = emulate::Variant::kCheck;
  KF_TRY(auto built, build_candidate(candidate, setup.platform, task, setup.machine, options));
  if (!built) return verdict.fail(built.error()), Result<void>{};
  watch.add("compiler", built->seconds);
  KF_TRY(JudgeContext context, workspace.context(task, true));
  KF_TRY(auto report, checked_call(workspace, *built, task, context));
  if (!report) {
    // It ran out of time, most likely: the looks cost a hundred times the call. The other gates see what it
    // does.
    for (const Gate gate : kGates)
      verdict.skip(gate,
                   fmt::format("the call did not end under the checks: {}", reason_text(report.error())));
    return {};
  }
  for (const Gate gate : kGates) {
    const auto found = std::ranges::find_if(
        report->findings, [&](const emulate::Finding& f) { return gate_for(f.kind) == gate; });
    if (found == report->findings.end())
      verdict.add(passed(
          gate, fmt::format("nothing in {} accesses on shape set {}", report->accesses, task.shape_set)));
    else
      return verdict.fail(WrongValue{gate, found->sentence()}), Result<void>{};
  }
  return {};
}

}  // namespace kforge
