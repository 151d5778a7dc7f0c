#include "search/history.h"

#include <algorithm>
#include <iterator>

namespace kforge {

double merit(const Attempt& attempt) {
  if (!attempt.judgement) return 0;
  const AttemptJudgement& judged = *attempt.judgement;
  if (judged.speedup) return judged.speedup->value;
  if (judged.modelled_ns) return 1e9 / *judged.modelled_ns;
  return judged.time_ns && *judged.time_ns > 0 ? 1e9 / *judged.time_ns : 0;
}

bool can_grow(const Attempt& attempt) {
  return attempt.verified() || (attempt.judgement && attempt.judgement->outcome == Outcome::kSlower);
}

const Attempt* History::find(int number) const {
  auto found = std::ranges::find(attempts, number, &Attempt::number);
  return found == attempts.end() ? nullptr : &*found;
}

const Attempt* History::best(int lane) const {
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts) {
    if (!attempt.verified() || (lane >= 0 && attempt.proposal.lane != lane)) continue;
    bool won = lane >= 0 ? attempt.better() : attempt.accepted();
    if (!best || won) best = &attempt;
  }
  return best;
}

int History::failures_in_a_row(const Attempt& attempt) const {
  int count = 0;
  for (const Attempt* at = &attempt; at && !at->verified(); at = find(at->proposal.parent)) ++count;
  return count;
}

int History::children(int number) const {
  return static_cast<int>(
      std::ranges::count(attempts, number, [](const Attempt& attempt) { return attempt.proposal.parent; }));
}

History History::up_to(std::optional<int> number) const {
  History earlier;
  std::ranges::copy_if(attempts, std::back_inserter(earlier.attempts),
                       [&](const Attempt& attempt) { return !number || attempt.number <= *number; });
  return earlier;
}

}  // namespace kforge
