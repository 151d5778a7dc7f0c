#include "forge/attempts.h"

#include <algorithm>

namespace kforge {
namespace {

Result<std::optional<Candidate>> load_program(RunRecords& records, const std::string& hash) {
  if (hash.empty()) return std::nullopt;
  KF_TRY(StoredCandidate stored, records.candidate(hash));
  return Candidate{stored.files, stored.origin};
}

}  // namespace

Result<std::vector<PendingAttempt>> Attempts::restore() {
  std::vector<PendingAttempt> pending;
  KF_TRY(auto stored, records_->attempts(run_));
  for (const StoredAttempt& record : stored) {
    PendingAttempt attempt;
    attempt.number = record.number;
    next_ = std::max(next_, record.number + 1);
    KF_TRY(attempt.proposal, proposal_from(record.plan));
    if (record.advice) {
      KF_TRY(attempt.advice, advice_from(*record.advice));
    }
    if (record.generation) {
      KF_TRY(attempt.generation, generation_from(*record.generation));
      KF_TRY(attempt.program, load_program(*records_, record.candidate));
      generations_[record.number] = *attempt.generation;
    }
    if (!record.verdict) {
      pending.push_back(std::move(attempt));
      continue;
    }
    KF_TRY(VerdictRecord verdict, verdict_from(*record.verdict));
    std::optional<Candidate> judged = attempt.program;
    if (!verdict.tuned_candidate.empty()) {
      KF_TRY(judged, load_program(*records_, verdict.tuned_candidate));
    }
    clock_ = std::max(clock_, record.clock);
    join(attempt, judged, verdict);
  }
  return pending;
}

Result<PendingAttempt> Attempts::plan(const Proposal& proposal) {
  PendingAttempt attempt;
  attempt.number = next_++;
  attempt.proposal = proposal;
  KF_TRY_VOID(records_->save_plan(run_, attempt.number, to_document(proposal)));
  return attempt;
}

Result<PendingAttempt> Attempts::plan_given(const Candidate& program) {
  PendingAttempt attempt;
  attempt.program = program;
  attempt.generation =
      GenerationRecord{.change = "the kernel given with --from", .extraction = "ok", .generator = "user"};
  KF_TRY_VOID(records_->save_plan(run_, 0, to_document(attempt.proposal)));
  StoredCandidate stored{program.content_hash(), program.origin, program.files};
  KF_TRY_VOID(records_->save_generation(run_, 0, to_document(*attempt.generation), &stored));
  generations_[0] = *attempt.generation;
  return attempt;
}

Result<void> Attempts::hand_over(PendingAttempt& attempt, int generator) {
  attempt.proposal.generator = generator;
  return records_->change_plan(run_, attempt.number, to_document(attempt.proposal));
}

Result<void> Attempts::save_advice(PendingAttempt& attempt, const Advice& advice) {
  attempt.advice = advice;
  return records_->save_advice(run_, attempt.number,
                               {advice.tag, advice.by, to_document(advice), advice.expected_gain});
}

Result<void> Attempts::save_generation(PendingAttempt& attempt, const Generation& generation,
                                       const std::string& generator, double seconds) {
  GenerationRecord record{generation.change,   generation.extraction, generator, "",
                          generation.schedule, generation.story,      seconds};
  std::optional<StoredCandidate> stored;
  if (generation.program) {
    attempt.program = *generation.program;
    stored =
        StoredCandidate{attempt.program->content_hash(), attempt.program->origin, attempt.program->files};
  } else {
    record.no_program = reason_text(generation.program.error());
  }
  attempt.generation = record;
  KF_TRY_VOID(
      records_->save_generation(run_, attempt.number, to_document(record), stored ? &*stored : nullptr));
  std::lock_guard lock(mutex_);
  generations_[attempt.number] = std::move(record);
  return {};
}

Result<void> Attempts::save_verdict(const PendingAttempt& attempt, const std::optional<Candidate>& program,
                                    const VerdictRecord& verdict, const std::string& result, double clock) {
  KF_TRY_VOID(records_->save_verdict(run_, attempt.number, to_document(verdict), result, clock));
  if (attempt.advice && verdict.over_rival)
    KF_TRY_VOID(records_->save_gain(run_, attempt.number, verdict.over_rival->value));
  clock_ = std::max(clock_, clock);
  join(attempt, program, verdict);
  return {};
}

void Attempts::join(const PendingAttempt& attempt, const std::optional<Candidate>& program,
                    const VerdictRecord& verdict) {
  Trial trial;
  trial.proposal = attempt.proposal;
  trial.better = verdict.better;
  Attempt& a = trial.attempt;
  a.number = attempt.number;
  a.parent = attempt.proposal.parent;
  a.rival = attempt.proposal.rival;
  a.pass = attempt.proposal.pass;
  if (attempt.generation) a.change = attempt.generation->change;
  if (program) a.program = *program;
  a.outcome = verdict.outcome;
  a.gate = verdict.gate;
  a.reason = verdict.reason;
  a.evidence = verdict.evidence;
  a.time_ns = verdict.time_ns;
  a.modelled_ns = verdict.modelled_ns;
  if (verdict.speedup) {
    a.speedup = verdict.speedup->value;
    a.speedup_lo = verdict.speedup->lo;
    a.speedup_hi = verdict.speedup->hi;
  }
  a.accepted = verdict.accepted;
  a.advice = attempt.advice;
  if (verdict.over_rival) {
    a.gain = verdict.over_rival->value;
    a.gain_lo = verdict.over_rival->lo;
    a.gain_hi = verdict.over_rival->hi;
  }
  auto after =
      std::ranges::find_if(history_.trials, [&](const Trial& t) { return t.attempt.number > a.number; });
  history_.trials.insert(after, std::move(trial));
  std::lock_guard lock(mutex_);
  verdicts_[attempt.number] = verdict;
}

std::optional<VerdictRecord> Attempts::verdict(int number) const {
  std::lock_guard lock(mutex_);
  auto found = verdicts_.find(number);
  return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<GenerationRecord> Attempts::generation(int number) const {
  std::lock_guard lock(mutex_);
  auto found = generations_.find(number);
  return found == generations_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> Attempts::overturn(int number, std::string_view gate, std::string_view reason) {
  auto known = verdict(number);
  KF_CHECK(known, "attempt {} was never judged", number);
  known->outcome = "overturned";
  known->gate = gate;
  known->reason = fmt::format("did not stand the confirmation: {}", reason);
  known->better = known->accepted = false;
  for (Trial& trial : history_.trials)
    if (trial.attempt.number == number) {
      trial.better = trial.attempt.accepted = false;
      trial.attempt.outcome = known->outcome;
      trial.attempt.gate = known->gate;
      trial.attempt.reason = known->reason;
    }
  {
    std::lock_guard lock(mutex_);
    verdicts_[number] = *known;
  }
  return records_->change_verdict(run_, number, to_document(*known));
}

}  // namespace kforge
