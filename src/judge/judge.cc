// judge_case() is the table of contents of judging: the stages of base/gate.h in their order, each a function
// that gives what it found, up to the first failure.
#include "judge/judge.h"

#include <algorithm>
#include <future>

#include "judge/emulator_gates.h"
#include "judge/generality.h"
#include "judge/oclgrind.h"
#include "judge/program.h"
#include "judge/time_case.h"
#include "judge/torch_only.h"
#include "judge/trial_call.h"
#include "judge/vulkan_layers.h"
#include "verify/calibration.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

bool assumes_finite_math(const Candidate& candidate) {
  return std::ranges::any_of(candidate.directives(), [](const Candidate::Directive& directive) {
    auto says = [&](const char* flag) { return directive.value.find(flag) != std::string::npos; };
    return directive.key == "flags" && (says("-ffast-math") || says("-Ofast") || says("-ffinite-math-only"));
  });
}

// Two that compute expected values at once hold memory for both.
bool small_enough_for_two(const BoundTask& task) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  return MemoryLayout::of(task, 1).bytes() <= kMost;
}

// Gates of the stage that say nothing about programs of this kind.
void record_not_applicable(GateStage stage, PlatformKind kind, Verdict& verdict) {
  for (const GateRow& row : all_gates())
    if (const KindRule& rule = rule_of(row, name_of(kind));
        row.stage == stage && rule.how == KindRule::How::kNotApplicable)
      verdict.skip(row.gate, fmt::format("not on {} platforms: {}", name_of(kind), rule.note));
}

// What the device itself does not keep, by a kernel that tried it (device/float_probe.h), is not asked of
// programs.
void relax(const Device& device, const std::map<std::string, double>& given_peaks, JudgeContext& context) {
  if (!device.facts) return;
  if (!device.facts->nonfinite) {
    context.finite_math = true;
    context.relaxed =
        "NaN and infinities among the inputs are not judged: a probe kernel got others on this device";
  } else if (!device.facts->denormals) {
    context.relaxed = "denormals may be zero: a probe kernel found them flushed on this device";
  }
  if (!device.this_processor() && !given_peaks.contains("memory_gb_s"))
    context.no_floor = "the bandwidth of this device is not known: 'memory_gb_s' in [peaks] would say it";
}

Result<CaseJudgement> judge_case(Workspace& workspace, std::size_t index, const Candidate& candidate,
                                 const JudgeRequest& request, Stopwatch& watch) {
  const JudgeSetup& setup = workspace.setup();
  const BoundTask& task = setup.bound(index);
  const bool timed = !request.check_only && setup.timed();
  CaseJudgement found{
      .shape = task.shape_case, .flops = task.cost.flops, .bytes = task.cost.compulsory_bytes};
  Verdict& verdict = found.verdict;
  if (const auto& module = setup.task.module) verdict.flags = module->flags;
  if (setup.platform.language == "PyTorch module" && calls_only_torch(candidate))
    verdict.flags.push_back("torch_only");

  // Build.
  KF_TRY(StagedProgram program, waiting_program(workspace, task, !timed));
  KF_TRY(auto built, build_program(workspace, candidate, task, &watch));
  if (!built) return verdict.fail(built.error()), std::move(found);
  found.build = *built;

  // Symbols.
  record_not_applicable(GateStage::kSymbols, setup.platform.kind, verdict);
  if (judged_on(GateStage::kSymbols, name_of(setup.platform.kind))) verdict.add(judge_symbols(setup, *built));
  if (verdict.failed()) return found;

  // Races, bounds and barriers, by the emulator or a simulator.
  if (setup.platform.emulates_device()) {
    KF_TRY_VOID(judge_by_emulator(workspace, candidate, task, watch, verdict));
  } else if (setup.platform.run.driver == DeviceDriver::kOpenCl) {
    KF_TRY_VOID(judge_by_oclgrind(workspace, candidate, task, watch, verdict));
  } else if (setup.platform.run.driver == DeviceDriver::kVulkan && request.check_only) {
    KF_TRY_VOID(judge_by_layers(workspace, candidate, task, watch, verdict));
  }
  if (verdict.failed()) return found;

  // Values.
  KF_TRY(JudgeContext context, workspace.context(task, request.fresh_inputs));
  context.finite_math = assumes_finite_math(candidate);
  relax(setup.device, setup.platform.peaks, context);
  // One that further judgings will use is not told: whoever knows it knows their inputs.
  if (context.fresh_secret) found.seeds.push_back({"check", context.secret});
  KF_TRY_VOID(place_artefact(program, built->artefact));
  // What is checked now is not timed, and leaves a processor idle most of the time.
  if (timed && !request.fastest_baseline_only) KF_TRY_VOID(workspace.start_baselines(index));
  std::future<Result<CaseBaselines*>> baselines;
  if (timed && request.passed_before && small_enough_for_two(task))
    baselines = std::async(std::launch::async,
                           [&workspace, index, context] { return workspace.baselines(index, context); });
  workspace.progress().stage("checking values");
  std::optional<Stopwatch::Measure> checks(std::in_place, watch, "checks");
  // What a command takes is its start-up, mostly.
  if (setup.device.emulated && setup.platform.kind != PlatformKind::kCommand) {
    KF_TRY(found.within_reach, gates_within_reach(context, program.spec));
    if (!found.within_reach && !candidate.claims_general())
      return verdict.fail(out_of_reach()), std::move(found);
  }
  if (found.within_reach) {
    KF_TRY_VOID(judge_values(context, program.spec, verdict));
    watch.add("oracle", verdict.oracle_seconds);
    watch.add("contender calls", verdict.call_seconds);
    if (verdict.failed()) return found;
    record_not_applicable(GateStage::kValues, setup.platform.kind, verdict);

    // Calibration.
    KF_TRY(Calibration calibration, calibrate(context));
    verdict.add(finding_of(calibration));
    if (calibration.vacuous()) verdict.flags.push_back("vacuous");
  } else {
    verdict.skip(Gate::kAccuracy,
                 "the asked shapes are out of reach of the emulator: judged on small, odd and hidden ones");
  }

  // Generality.
  if (candidate.claims_general()) {
    KF_TRY(Generality generality, judge_generality(workspace, candidate, found.within_reach, watch));
    verdict.add(generality.finding);
    found.seeds.insert(found.seeds.end(), generality.seeds.begin(), generality.seeds.end());
  }
  checks.reset();
  if (baselines.valid()) KF_TRY_VOID(baselines.get());
  if (verdict.failed() || request.check_only) return found;

  // Times, or what a model says in their place.
  if (!setup.timed())
    for (const GateRow& row : all_gates())
      if (row.stage == GateStage::kTimes)
        verdict.skip(row.gate,
                     setup.device.emulated ? "not timed: emulated" : "not timed: ranked by a model");
  if (setup.modelled() && !found.within_reach && !setup.platform.model->chip) {
    found.modelled_absent_because = "a call on the asked shapes takes too long under the emulator";
  } else if (setup.modelled()) {
    workspace.progress().stage("modelling");
    auto timer = watch.measure("model");
    auto time = model_time(setup, candidate, *built, task, context.check_seed(InputKind::kOwn));
    if (time) found.modelled_ns = time->ns, found.modelled_from = std::move(time->inputs);
    if (!time) found.modelled_absent_because = time.error().text();
  }
  if (!setup.timed()) return found;
  KF_TRY(CaseTimes times, time_case(workspace, index, context, program.spec, request, watch, verdict));
  found.seeds.push_back({"timed", times.seed});
  found.absent = std::move(times.absent);
  found.baseline_refusals = std::move(times.refusals);
  if (verdict.failed()) return found;
  found.times = std::move(times.findings);
  found.incumbents = std::move(times.incumbents);

  // Roofline.
  KF_TRY(found.roofline, workspace.roofline(task, found.times->ns.value));
  return found;
}

}  // namespace

Result<Judgement> judge(Workspace& workspace, const Program& given, const JudgeRequest& request) {
  const JudgeSetup& setup = workspace.setup();
  Program program = given;
  if (program) program->comment = setup.platform.comment;  // programs of the store do not know it
  Stopwatch watch;
  Judgement judgement;
  if (!program) judgement.cases.emplace_back().verdict.fail(program.error());
  for (std::size_t index = 0; program && judgement.passed() && index < setup.cases.size(); ++index) {
    KF_TRY(CaseJudgement found, judge_case(workspace, index, *program, request, watch));
    if (found.verdict.failed() && found.build)
      locate_crash(setup, *found.verdict.failure, *program, *found.build, setup.bound(index));
    judgement.cases.push_back(std::move(found));
  }
  judgement.seconds = watch.seconds();
  return judgement;
}

}  // namespace kforge
