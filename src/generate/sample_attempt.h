// Attempts for tests, stage by stage.
#pragma once

#include <string>
#include <utility>

#include "generate/attempt.h"

namespace kforge {

inline Generation& generated(Attempt& attempt) {
  return attempt.generation ? *attempt.generation : attempt.generation.emplace();
}
inline void set_source(Attempt& attempt, std::string source) {
  generated(attempt).program = Candidate{{{"kernel.cc", std::move(source)}}, "test"};
  attempt.generation->status = ReplyStatus::kOk;
}
inline AttemptJudgement& judged(Attempt& attempt, Outcome outcome) {
  if (!attempt.decision) attempt.decision.emplace();
  AttemptJudgement& judgement = attempt.judgement ? *attempt.judgement : attempt.judgement.emplace();
  judgement.outcome = outcome;
  return judgement;
}
inline void set_gain(Attempt& attempt, double value, double lo, double hi) {
  attempt.judgement->over_rival = Speedup{value, lo, hi, "its rival"};
}
inline void set_advice(Attempt& attempt, Advice advice, bool followed = true) {
  attempt.advice = std::move(advice);
  generated(attempt).followed_advice = followed;
}

}  // namespace kforge
