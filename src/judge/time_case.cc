#include "judge/time_case.h"

#include <algorithm>

#include "judge/program.h"

namespace kforge {
namespace {

std::string incumbent_name(std::size_t which) { return fmt::format("incumbent {}", which + 1); }

// The baselines that are timed this time.
std::vector<Rival> chosen(const Workspace& workspace, std::size_t index, const CaseBaselines& baselines,
                          const JudgeRequest& request) {
  const std::string& fastest = workspace.fastest(index);
  std::vector<Rival> rivals;
  for (const Rival& rival : baselines.present)
    if (!request.fastest_baseline_only || fastest.empty() || rival.name == fastest)
      rivals.push_back(rival), rivals.back().spec.stop = workspace.stop();
  return rivals;
}

Result<std::vector<NativeProgram>> stage_incumbents(const Workspace& workspace, const BoundTask& task,
                                                    const JudgeRequest& request, Stopwatch& watch) {
  std::vector<NativeProgram> staged;
  for (std::size_t i = 0; i < request.incumbents.size(); ++i) {
    KF_TRY(auto built, build_program(workspace, *request.incumbents[i], task, &watch));
    if (!built)
      return fail("a program that was verified before does not compile any more: {}",
                  reason_text(built.error()));
    KF_TRY(NativeProgram native, stage_program(workspace, incumbent_name(i), *built, task));
    staged.push_back(std::move(native));
  }
  return staged;
}

// What is known now spares the next judging some trials.
void remember(Workspace& workspace, std::size_t index, const TimedFindings& findings,
              CaseBaselines& baselines) {
  if (!findings.rivals.empty()) workspace.set_fastest(index, findings.rivals.front().name);
  for (const RivalTimes& times : findings.rivals)
    for (Rival& rival : baselines.present)
      if (rival.name == times.name) rival.threads = times.better_threads;
}

}  // namespace

Result<void> time_case(Workspace& workspace, std::size_t index, const JudgeContext& context,
                       const ContenderSpec& program, const JudgeRequest& request, Stopwatch& watch,
                       CaseJudgement& found) {
  KF_TRY(Peaks * peaks, workspace.peaks());
  workspace.progress().stage("checking baselines");
  std::optional<Stopwatch::Measure> finding(std::in_place, watch, "baselines");
  KF_TRY(CaseBaselines * baselines, workspace.baselines(index, context));
  found.absent = baselines->absent;
  found.baseline_refusals = baselines->refusals;
  std::vector<Rival> rivals = chosen(workspace, index, *baselines, request);
  KF_TRY(auto staged, stage_incumbents(workspace, *context.task, request, watch));
  for (const NativeProgram& native : staged)
    rivals.push_back({native.spec.name, "the best program so far", native.spec, false, false});
  finding.reset();

  workspace.progress().stage("timing");
  auto timer = watch.measure("timing");
  TimedOptions options;
  options.seed = random_seed();
  options.hopeless = request.hopeless;
  options.echo = &workspace.echo();
  options.timing = timing_options(workspace.setup(), context);
  options.timing.seconds = request.seconds;
  if (request.rounds > 0) options.timing.min_rounds = options.timing.max_rounds = request.rounds;
  found.seeds.push_back({"timed", options.seed});
  KF_TRY(TimedFindings findings, judge_times(context, program, rivals, options, *peaks, found.verdict));
  watch.add("contender calls", findings.contender_seconds);
  watch.add("spins", findings.spin_seconds);
  if (found.verdict.failed()) return {};
  for (std::size_t i = 0; i < staged.size(); ++i) {
    auto own = std::ranges::find(findings.rivals, incumbent_name(i), &RivalTimes::name);
    if (own == findings.rivals.end())
      return fail("a program that was verified before failed when it was timed again");
    found.incumbents.push_back(*own);
    findings.rivals.erase(own);
  }
  remember(workspace, index, findings, *baselines);
  found.times = std::move(findings);
  return {};
}

}  // namespace kforge
