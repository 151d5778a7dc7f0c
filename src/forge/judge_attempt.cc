#include "forge/judge_attempt.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.h"
#include "profile/profile.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

void fill(VerdictRecord& verdict, const EvalReport& report) {
  verdict.outcome = report.outcome;
  verdict.gate = report.gate;
  verdict.reason = report.reason;
  verdict.evidence = report.evidence;
  if (report.time_ns) verdict.time_ns = report.time_ns->median;
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

// Weighted geometric means over the shape cases.
class Mean {
 public:
  void add(const Interval& x, double weight) {
    value_ += weight * std::log(x.value), lo_ += weight * std::log(x.lo), hi_ += weight * std::log(x.hi);
    weights_ += weight;
  }
  Interval get() const {
    return {std::exp(value_ / weights_), std::exp(lo_ / weights_), std::exp(hi_ / weights_)};
  }
  bool empty() const { return weights_ == 0; }

 private:
  double value_ = 0, lo_ = 0, hi_ = 0, weights_ = 0;
};

}  // namespace

Result<JudgedAttempt> judge_fully(JudgingSession& session, const std::expected<Candidate, Failure>& program,
                                  const Attempt* best, const Attempt* rival, const JudgeSettings& settings) {
  auto start = Clock::now();
  JudgedAttempt judged;
  if (program) judged.program = *program;
  JudgeRequest request;
  request.fastest_baseline_only = true;
  request.seconds = settings.seconds;
  request.rounds = settings.rounds;
  bool timed = !session.modelled();
  if (best && timed) request.incumbents.push_back(&best->program);
  if (rival && rival != best && timed) request.incumbents.push_back(&rival->program);
  if (best) request.hopeless = 0.9;
  KF_TRY(Judgement judgement, session.judge(program, request));
  KF_TRY_VOID(session.save(program, judgement));
  judged.result = judgement.report.result_id;
  if (!judgement.cases.empty()) judged.build = judgement.cases.front().build;
  VerdictRecord& verdict = judged.verdict;
  fill(verdict, judgement.report);
  if (judgement.report.passed() && !timed) {
    verdict.better = models_better(verdict, rival);
    verdict.accepted = models_better(verdict, best);
  } else if (judgement.report.passed()) {
    const auto& over = judgement.over_incumbents;
    if (rival && !over.empty()) {
      verdict.over_rival = over.back();
      verdict.over_rival->against = fmt::format("attempt {}", rival->number);
    }
    verdict.better = !verdict.over_rival || verdict.over_rival->lo > 1;
    verdict.accepted = !best || (!over.empty() && over.front().lo > 1);
  }
  verdict.seconds = seconds_since(start);
  return judged;
}

Races::Races(JudgingSession& session, double baseline_ns, std::string baseline)
    : session_(session), baseline_ns_(baseline_ns), baseline_(std::move(baseline)) {
  for (std::size_t i = 0; i < session.case_count(); ++i) races_.push_back(std::make_unique<Race>(session, i));
}

Result<void> Races::seat(const Candidate& best) {
  for (std::size_t i = 0; i < races_.size(); ++i) {
    KF_TRY(auto built, session_.build(best, session_.bound(i)));
    if (!built)
      return fail("the best program so far does not compile any more: {}", reason_text(built.error()));
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) return fail("the best program so far fails now: {}", reason_text(*result.failure));
    races_[i]->crown();
  }
  seated_ = true;
  return {};
}

void Races::rest() {
  for (auto& race : races_) race->rest();
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

  Mean times, ratios;
  double thread_use = 0;
  for (std::size_t i = 0; i < races_.size(); ++i) {
    const BoundTask& task = session_.bound(i);
    KF_TRY(auto built, session_.build(*program, task));
    if (!built) return failed(built.error());
    if (i == 0) judged.build = *built;
    if (auto rejected = session_.symbol_gate(*built)) return failed(*rejected);
    KF_TRY(RaceResult result, races_[i]->challenge(*built));
    if (result.failure) {
      session_.locate(*result.failure, *program, *built, task);
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
    KF_TRY(Judgement judgement, session_.judge(program, request));
    KF_TRY_VOID(session_.save(program, judgement));
    judged.result = judgement.report.result_id;
    fill(verdict, judgement.report);
  } else {
    verdict.outcome = "slower";
  }
  verdict.time_ns = ns.value;
  verdict.thread_use = thread_use;
  if (baseline_ns_ > 0)
    verdict.speedup = Speedup{baseline_ns_ / ns.value, baseline_ns_ / ns.hi, baseline_ns_ / ns.lo, baseline_};
  if (!ratios.empty()) {
    Interval ratio = ratios.get();
    verdict.over_rival =
        Speedup{ratio.value, ratio.lo, ratio.hi, fmt::format("attempt {}", best ? best->number : 0)};
  }
  if (verdict.outcome == "passed") {
    verdict.better = verdict.accepted = true;
    KF_TRY(RooflinePosition position, session_.roofline(session_.bound(0), ns.value));
    verdict.roofline = Roofline{position.bound, position.fraction};
    for (auto& race : races_) race->crown();
    seated_ = true;
  }
  return finish();
}

}  // namespace kforge
