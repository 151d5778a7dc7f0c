#include "forge/judge_attempt.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "judge/program.h"
#include "judge/save.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

void fill(AttemptJudgement& judgement, const EvalReport& report) {
  judgement.outcome = report.outcome;
  judgement.gate = report.gate;
  judgement.reason = report.reason;
  judgement.evidence = report.evidence;
  if (report.time_ns) judgement.time_ns = report.time_ns->value;
  if (report.modelled) judgement.modelled_ns = report.modelled->ns;
  judgement.speedup = report.speedup;
  for (const BaselineResult& baseline : report.baselines)
    if (report.speedup && baseline.name == report.speedup->against)
      judgement.baseline_ns = baseline.time_ns.value;
  if (report.error) judgement.max_rel_error = report.error->max_rel;
  if (report.roofline) judgement.roofline_fraction = report.roofline->fraction;
  judgement.thread_use = report.thread_use;
  judgement.result = report.result_id;
}

void fill(AttemptJudgement& judgement, const Failure& failure) {
  judgement.outcome = outcome_of(failure);
  judgement.gate = gate_of(failure);
  judgement.reason = reason_text(failure);
  judgement.evidence = evidence_of(failure);
}

// A model gives the same program the same figure but for a little: less than this is no gain.
constexpr double kModelStep = 0.999;

bool models_better(double modelled_ns, const Attempt* than) {
  if (!than || !than->judgement || !than->judgement->modelled_ns) return true;
  return modelled_ns < kModelStep * *than->judgement->modelled_ns;
}

}  // namespace

Decision decide(const AttemptJudgement& judgement, const Attempt* best, const Attempt* rival) {
  if (judgement.outcome != Outcome::kPassed) return {};
  if (judgement.modelled_ns)
    return {.better = models_better(*judgement.modelled_ns, rival),
            .accepted = models_better(*judgement.modelled_ns, best)};
  return {.better = !judgement.over_rival || judgement.over_rival->lo > 1,
          .accepted = !best || (judgement.over_best && judgement.over_best->lo > 1)};
}

Result<AttemptJudgement> judge_fully(Workspace& workspace, const std::expected<Candidate, Failure>& program,
                                     const Attempt* best, const Attempt* rival,
                                     const JudgeSettings& settings) {
  auto start = Clock::now();
  JudgeRequest request;
  request.fastest_baseline_only = true;
  request.seconds = settings.seconds;
  request.rounds = settings.rounds;
  request.check_only = request.fresh_inputs = settings.check_only;
  bool timed = workspace.setup().timed() && !settings.check_only;
  if (best && timed) request.incumbents.push_back(best->program());
  if (rival && rival != best && timed) request.incumbents.push_back(rival->program());
  if (best) request.hopeless = 0.9;
  KF_TRY(Judged all, judge_and_save(workspace, program, request, settings.kernel_path));
  AttemptJudgement found;
  fill(found, all.report);
  if (const std::vector<Interval> over = all.judgement.over_incumbents(); !over.empty()) {
    auto over_attempt = [](const Interval& ratio, const Attempt& attempt) {
      return Speedup{ratio, fmt::format("attempt {}", attempt.number)};
    };
    if (best) found.over_best = over_attempt(over.front(), *best);
    if (rival) found.over_rival = over_attempt(over.back(), *rival);
    // The second race decides: in fresh processes, and without the luck of what was chosen for a good first
    // one.
    if (found.outcome == Outcome::kPassed && found.over_best && found.over_best->lo > 1) {
      KF_TRY(const Interval again, race_once(workspace, *program, *best->program()));
      found.over_best = over_attempt(again, *best);
      if (rival == best) found.over_rival = found.over_best;
    }
  }
  found.seconds = seconds_since(start);
  return found;
}

Races::Races(Workspace& workspace, double baseline_ns, std::string baseline)
    : workspace_(workspace), baseline_ns_(baseline_ns), baseline_(std::move(baseline)) {
  for (std::size_t i = 0; i < workspace.setup().cases.size(); ++i)
    races_.push_back(std::make_unique<Race>(workspace, i));
}

Result<void> Races::set_incumbent(const Candidate& best) {
  for (std::size_t i = 0; i < races_.size(); ++i) {
    KF_TRY(auto built, build_program(workspace_, best, workspace_.setup().bound(i)));
    if (!built)
      return fail("the best program so far does not compile any more: {}", reason_text(built.error()));
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) return fail("the best program so far fails now: {}", reason_text(*result.failure));
    races_[i]->promote();
  }
  has_incumbent_ = true;
  return {};
}

void Races::pause() {
  for (auto& race : races_) race->pause();
}

Result<AttemptJudgement> Races::judge(const std::expected<Candidate, Failure>& program, const Attempt* best) {
  auto start = Clock::now();
  AttemptJudgement found;
  auto finish = [&] {
    found.seconds = seconds_since(start);
    return std::move(found);
  };
  auto failed = [&](const Failure& failure) {
    fill(found, failure);
    return finish();
  };
  if (!program) return failed(program.error());
  if (best && !has_incumbent_) KF_TRY_VOID(set_incumbent(*best->program()));

  GeometricMean times, ratios;
  double thread_use = 0;
  for (std::size_t i = 0; i < races_.size(); ++i) {
    const BoundTask& task = workspace_.setup().bound(i);
    KF_TRY(auto built, build_program(workspace_, *program, task));
    if (!built) return failed(built.error());
    if (auto symbols = judge_symbols(workspace_.setup(), *built); !symbols) return failed(symbols.error());
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) {
      locate_crash(workspace_.setup(), *result.failure, *program, *built, task);
      return failed(*result.failure);
    }
    times.add(result.ns, task.shape_case.weight);
    if (result.ratio) ratios.add(*result.ratio, task.shape_case.weight);
    thread_use = result.thread_use;
  }
  bool won = ratios.empty() || ratios.get().lo > 1;
  // The second race decides: in fresh processes, and without the luck of what was chosen for a good first
  // one.
  if (won && !ratios.empty()) {
    times = ratios = {};
    for (std::size_t i = 0; i < races_.size(); ++i) {
      KF_TRY(RaceResult again, races_[i]->challenge_again());
      if (again.failure) return failed(*again.failure);
      times.add(again.ns, workspace_.setup().bound(i).shape_case.weight);
      ratios.add(*again.ratio, workspace_.setup().bound(i).shape_case.weight);
    }
    won = ratios.get().lo > 1;
  }
  Interval ns = times.get();
  if (won) {
    // The same gates as everybody's.
    JudgeRequest request;
    request.check_only = true;
    KF_TRY(Judged all, judge_and_save(workspace_, program, request));
    fill(found, all.report);
  } else {
    found.outcome = Outcome::kSlower;
  }
  found.time_ns = ns.value;
  found.thread_use = thread_use;
  if (baseline_ns_ > 0)
    found.speedup = Speedup{{baseline_ns_ / ns.value, baseline_ns_ / ns.hi, baseline_ns_ / ns.lo}, baseline_};
  if (!ratios.empty()) {
    found.over_best = Speedup{ratios.get(), fmt::format("attempt {}", best ? best->number : 0)};
    found.over_rival = found.over_best;
  }
  if (found.outcome == Outcome::kPassed) {
    KF_TRY(RooflinePosition position, workspace_.roofline(workspace_.setup().bound(0), ns.value));
    found.roofline_fraction = position.fraction;
    for (auto& race : races_) race->promote();
    has_incumbent_ = true;
  }
  return finish();
}

}  // namespace kforge
