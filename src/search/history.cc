#include "search/history.h"

#include <algorithm>

namespace kforge {

double worth(const Attempt& attempt) {
  if (attempt.speedup) return *attempt.speedup;
  if (attempt.modelled_ns) return 1e9 / *attempt.modelled_ns;
  return attempt.time_ns && *attempt.time_ns > 0 ? 1e9 / *attempt.time_ns : 0;
}

const Trial* History::find(int number) const {
  auto found = std::ranges::find(trials, number, [](const Trial& trial) { return trial.attempt.number; });
  return found == trials.end() ? nullptr : &*found;
}

const Trial* History::best(int lane) const {
  const Trial* best = nullptr;
  for (const Trial& trial : trials) {
    if (!trial.verified() || (lane >= 0 && trial.proposal.lane != lane)) continue;
    bool won = lane >= 0 ? trial.better : trial.attempt.accepted;
    if (!best || won) best = &trial;
  }
  return best;
}

int History::failures_in_a_row(const Trial& trial) const {
  int count = 0;
  for (const Trial* at = &trial; at && !at->verified(); at = find(at->proposal.parent)) ++count;
  return count;
}

int History::children(int number) const {
  return static_cast<int>(
      std::ranges::count(trials, number, [](const Trial& trial) { return trial.proposal.parent; }));
}

}  // namespace kforge
