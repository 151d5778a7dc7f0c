#include "forge/judge_attempt.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "judge/program.h"
#include "judge/save.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

void fill(VerdictRecord& verdict, const EvalReport& report) {
  verdict.outcome = name_of(report.outcome);
  verdict.gate = report.gate_name();
  verdict.reason = report.reason;
  verdict.evidence = report.evidence;
  if (report.time_ns) verdict.time_ns = report.time_ns->value;
  if (report.modelled) verdict.modelled_ns = report.modelled->ns;
  verdict.speedup = report.speedup;
  if (report.error) verdict.max_rel_error = report.error->max_rel;
  verdict.roofline = report.roofline;
  verdict.thread_use = report.thread_use;
}

void fill(VerdictRecord& verdict, const Failure& failure) {
  verdict.outcome = outcome_name(failure);
  verdict.gate = gate_name(failure);
  verdict.reason = reason_text(failure);
  verdict.evidence = evidence_json(failure);
}

// A model gives the same program the same figure but for a little: less than this is no gain.
constexpr double kModelStep = 0.999;

bool models_better(const VerdictRecord& verdict, const Attempt* than) {
  if (!than) return true;
  if (!verdict.modelled_ns) return false;
  return !than->modelled_ns || *verdict.modelled_ns < kModelStep * *than->modelled_ns;
}

}  // namespace

Result<JudgedAttempt> judge_fully(Workspace& session, const std::expected<Candidate, Failure>& program,
                                  const Attempt* best, const Attempt* rival, const JudgeSettings& settings) {
  auto start = Clock::now();
  JudgedAttempt judged;
  if (program) judged.program = *program;
  JudgeRequest request;
  request.fastest_baseline_only = true;
  request.seconds = settings.seconds;
  request.rounds = settings.rounds;
  bool timed = !session.setup().modelled();
  if (best && timed) request.incumbents.push_back(&best->program);
  if (rival && rival != best && timed) request.incumbents.push_back(&rival->program);
  if (best) request.hopeless = 0.9;
  KF_TRY(auto found, judge_and_save(session, program, request));
  const auto& [judgement, report] = found;
  judged.result = report.result_id;
  if (!judgement.cases.empty()) judged.build = judgement.cases.front().build;
  VerdictRecord& verdict = judged.verdict;
  fill(verdict, report);
  if (judgement.passed() && !timed) {
    verdict.better = models_better(verdict, rival);
    verdict.accepted = models_better(verdict, best);
  } else if (judgement.passed()) {
    const std::vector<Interval> over = judgement.over_incumbents();
    if (rival && !over.empty())
      verdict.over_rival = Speedup{over.back(), fmt::format("attempt {}", rival->number)};
    verdict.better = !verdict.over_rival || verdict.over_rival->lo > 1;
    verdict.accepted = !best || (!over.empty() && over.front().lo > 1);
  }
  verdict.seconds = seconds_since(start);
  return judged;
}

Races::Races(Workspace& session, double baseline_ns, std::string baseline)
    : session_(session), baseline_ns_(baseline_ns), baseline_(std::move(baseline)) {
  for (std::size_t i = 0; i < session.setup().cases.size(); ++i)
    races_.push_back(std::make_unique<Race>(session, i));
}

Result<void> Races::seat(const Candidate& best) {
  for (std::size_t i = 0; i < races_.size(); ++i) {
    KF_TRY(auto built, build_program(session_, best, session_.setup().bound(i)));
    if (!built)
      return fail("the best program so far does not compile any more: {}", reason_text(built.error()));
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) return fail("the best program so far fails now: {}", reason_text(*result.failure));
    races_[i]->promote();
  }
  seated_ = true;
  return {};
}

void Races::rest() {
  for (auto& race : races_) race->pause();
}

Result<JudgedAttempt> Races::judge(const std::expected<Candidate, Failure>& program, const Attempt* best) {
  auto start = Clock::now();
  JudgedAttempt judged;
  VerdictRecord& verdict = judged.verdict;
  auto finish = [&] {
    verdict.seconds = seconds_since(start);
    return std::move(judged);
  };
  auto failed = [&](const Failure& failure) {
    fill(verdict, failure);
    return finish();
  };
  if (!program) return failed(program.error());
  judged.program = *program;
  if (best && !seated_) KF_TRY_VOID(seat(best->program));

  GeometricMean times, ratios;
  double thread_use = 0;
  for (std::size_t i = 0; i < races_.size(); ++i) {
    const BoundTask& task = session_.setup().bound(i);
    KF_TRY(auto built, build_program(session_, *program, task));
    if (!built) return failed(built.error());
    if (i == 0) judged.build = *built;
    if (auto symbols = judge_symbols(session_.setup(), *built); !symbols) return failed(symbols.error());
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) {
      locate_crash(session_.setup(), *result.failure, *program, *built, task);
      return failed(*result.failure);
    }
    times.add(result.ns, task.shape_case.weight);
    if (result.ratio) ratios.add(*result.ratio, task.shape_case.weight);
    thread_use = result.thread_use;
  }
  Interval ns = times.get();
  bool won = ratios.empty() || ratios.get().lo > 1;
  if (won) {
    // The same gates as everybody's.
    JudgeRequest request;
    request.check_only = true;
    KF_TRY(Judged found, judge_and_save(session_, program, request));
    judged.result = found.report.result_id;
    fill(verdict, found.report);
  } else {
    verdict.outcome = "slower";
  }
  verdict.time_ns = ns.value;
  verdict.thread_use = thread_use;
  if (baseline_ns_ > 0)
    verdict.speedup =
        Speedup{{baseline_ns_ / ns.value, baseline_ns_ / ns.hi, baseline_ns_ / ns.lo}, baseline_};
  if (!ratios.empty())
    verdict.over_rival = Speedup{ratios.get(), fmt::format("attempt {}", best ? best->number : 0)};
  if (verdict.outcome == "passed") {
    verdict.better = verdict.accepted = true;
    KF_TRY(RooflinePosition position, session_.roofline(session_.setup().bound(0), ns.value));
    verdict.roofline = Roofline{position.bound, position.fraction};
    for (auto& race : races_) race->promote();
    seated_ = true;
  }
  return finish();
}

}  // namespace kforge
