#include "judge/time_case.h"

#include <algorithm>

#include "base/random_seed.h"
#include "judge/program.h"

namespace kforge {
namespace {

std::string incumbent_name(std::size_t which) { return fmt::format("incumbent {}", which + 1); }

// The baselines that are timed this time.
std::vector<Opponent> chosen(const Workspace& workspace, std::size_t index, const CaseBaselines& baselines,
                             const JudgeRequest& request) {
  const std::string& fastest = workspace.fastest(index);
  std::vector<Opponent> opponents;
  for (const Opponent& opponent : baselines.present)
    if (!request.fastest_baseline_only || fastest.empty() || opponent.name == fastest)
      opponents.push_back(opponent), opponents.back().spec.stop = workspace.stop();
  if (request.baseline_threads_anew)
    for (Opponent& opponent : opponents) opponent.threads = 0;
  return opponents;
}

Result<std::vector<StagedProgram>> stage_incumbents(const Workspace& workspace, const BoundTask& task,
                                                    const JudgeRequest& request, Stopwatch& watch) {
  std::vector<StagedProgram> staged;
  for (std::size_t i = 0; i < request.incumbents.size(); ++i) {
    KF_TRY(auto built, build_program(workspace, *request.incumbents[i], task, &watch));
    if (!built)
      return fail("a program that was verified before does not compile any more: {}",
                  reason_text(built.error()));
    KF_TRY(StagedProgram native, stage_program(workspace, incumbent_name(i), *built, task));
    staged.push_back(std::move(native));
  }
  return staged;
}

// What is known now spares the next judging some trials.
void remember(Workspace& workspace, std::size_t index, const TimedFindings& findings,
              CaseBaselines& baselines) {
  if (!findings.opponents.empty()) workspace.set_fastest(index, findings.opponents.front().name);
  for (const OpponentTimes& times : findings.opponents)
    for (Opponent& opponent : baselines.present)
      if (opponent.name == times.name) opponent.threads = times.better_threads;
}

}  // namespace

Result<CaseTimes> time_case(Workspace& workspace, std::size_t index, const JudgeContext& context,
                            const ProgramSpec& program, const JudgeRequest& request, Stopwatch& watch,
                            Verdict& verdict) {
  CaseTimes times;
  KF_TRY(Peaks * peaks, workspace.peaks());
  workspace.progress().stage("checking baselines");
  std::optional<Stopwatch::Measure> finding(std::in_place, watch, "baselines");
  KF_TRY(CaseBaselines * baselines, workspace.baselines(index, context));
  times.absent = baselines->absent;
  times.refusals = baselines->refusals;
  std::vector<Opponent> opponents = chosen(workspace, index, *baselines, request);
  KF_TRY(auto staged, stage_incumbents(workspace, *context.task, request, watch));
  for (const StagedProgram& native : staged)
    opponents.push_back({native.spec.name, "the best program so far", native.spec, false, false});
  finding.reset();

  workspace.progress().stage("timing");
  auto timer = watch.measure("timing");
  TimedOptions options;
  options.seed = times.seed = random_seed();
  options.hopeless = request.hopeless;
  options.echo = &workspace.echo();
  options.timing = timing_options(workspace.setup(), context);
  options.timing.seconds = request.seconds;
  if (request.rounds > 0) options.timing.min_rounds = options.timing.max_rounds = request.rounds;
  KF_TRY(times.findings, judge_times(context, program, opponents, options, *peaks, verdict));
  TimedFindings& findings = times.findings;
  watch.add("contender calls", findings.call_seconds);
  watch.add("spins", findings.spin_seconds);
  if (verdict.failed()) return times;
  for (std::size_t i = 0; i < staged.size(); ++i) {
    auto own = std::ranges::find(findings.opponents, incumbent_name(i), &OpponentTimes::name);
    if (own == findings.opponents.end())
      return fail("a program that was verified before failed when it was timed again");
    times.incumbents.push_back(*own);
    findings.opponents.erase(own);
  }
  remember(workspace, index, findings, *baselines);
  return times;
}

}  // namespace kforge
