#include "forge/attempts.h"

#include <algorithm>

namespace kforge {

Result<std::vector<Attempt>> Attempts::restore() {
  std::vector<Attempt> under_way;
  KF_TRY(auto stored, records_->attempts(run_));
  for (Attempt& attempt : stored) {
    next_ = std::max(next_, attempt.number + 1);
    if (attempt.judgement)
      join(attempt);
    else
      under_way.push_back(std::move(attempt));
  }
  return under_way;
}

Result<Attempt> Attempts::plan(const Proposal& proposal) {
  Attempt attempt{.number = next_++, .proposal = proposal};
  KF_TRY_VOID(records_->save_proposal(run_, attempt));
  return attempt;
}

Result<Attempt> Attempts::plan_given(const Candidate& program) {
  Attempt attempt;
  KF_TRY_VOID(records_->save_proposal(run_, attempt));
  KF_TRY_VOID(save_generation(attempt, {.program = program,
                                        .status = ReplyStatus::kOk,
                                        .change = "the kernel given with --from",
                                        .generator = "user"}));
  return attempt;
}

Result<void> Attempts::hand_over(Attempt& attempt, int generator) {
  attempt.proposal.generator = generator;
  return records_->change_proposal(run_, attempt);
}

Result<void> Attempts::save_advice(Attempt& attempt, const Advice& advice) {
  attempt.advice = advice;
  return records_->save_advice(run_, attempt);
}

Result<void> Attempts::save_generation(Attempt& attempt, Generation generation) {
  attempt.generation = std::move(generation);
  return records_->save_generation(run_, attempt);
}

Result<void> Attempts::save_judgement(const Attempt& attempt) {
  KF_TRY_VOID(records_->save_judgement(run_, attempt));
  join(attempt);
  return {};
}

void Attempts::join(const Attempt& attempt) {
  clock_ = std::max(clock_, attempt.judgement->clock);
  auto after = std::ranges::find_if(history_.attempts,
                                    [&](const Attempt& other) { return other.number > attempt.number; });
  history_.attempts.insert(after, attempt);
}

Result<void> Attempts::overturn(int number, std::optional<Gate> gate, std::string_view reason) {
  auto found = std::ranges::find(history_.attempts, number, &Attempt::number);
  KF_CHECK(found != history_.attempts.end(), "attempt {} was never judged", number);
  found->judgement->outcome = Outcome::kOverturned;
  found->judgement->gate = gate;
  found->judgement->reason = fmt::format("did not stand the confirmation: {}", reason);
  found->decision = Decision{};
  return records_->save_judgement(run_, *found);
}

}  // namespace kforge
