#include "search/strategy.h"

#include <algorithm>

#include "search/passes.h"

namespace kforge {

std::span<const StrategyEntry> all_strategies() {
  static constexpr StrategyEntry kStrategies[] = {
      {"chain", "one line: repair until right, then one recommended change at a time", 1, propose_chain},
      {"best-of", "several models or tries at once; the fastest verified program wins", 0, propose_best_of},
      {"beam", "the few fastest programs are each developed further", 3, propose_beam},
      {"tree", "any earlier program may be developed or mended, mostly the best", 2, propose_tree},
      {"evolve", "islands of programs that sometimes exchange their best", 3, propose_evolve},
  };
  return kStrategies;
}

Result<const StrategyEntry*> find_strategy(std::string_view name) {
  std::string list;
  for (const StrategyEntry& entry : all_strategies()) {
    if (entry.name == name) return &entry;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", entry.name);
  }
  return fail_with_remedy("use one of " + list, fmt::format("there is no strategy '{}'", name));
}

Proposal next_in_lane(const History& history, int lane, int repairs) {
  PassState state;
  const Trial *best = nullptr, *last = nullptr;
  for (const Trial& trial : history.trials) {
    if (trial.proposal.lane != lane) continue;
    last = &trial;
    state.pass = trial.proposal.pass;
    Event event = !trial.verified() ? Event::kFailed : trial.better ? Event::kBetter : Event::kVerified;
    state = after(state, event, repairs);
    if (trial.verified() && (!best || trial.better)) best = &trial;
  }
  Proposal next;
  next.lane = lane;
  next.pass = state.pass;
  if (state.from == From::kLast && last) next.parent = last->attempt.number;
  if (state.from == From::kBest && best) next.parent = best->attempt.number;
  if (best) next.rival = best->attempt.number;
  return next;
}

Proposal repair_of(const History& history, const Trial& failed) {
  Proposal next;
  next.pass = Pass::kFunctional;
  next.parent = failed.attempt.number;
  const Trial* ancestor = &failed;
  while (ancestor && !ancestor->verified()) ancestor = history.find(ancestor->proposal.parent);
  if (ancestor) next.rival = ancestor->attempt.number;
  next.lane = failed.proposal.lane;
  next.generator = failed.proposal.generator;
  return next;
}

Proposal improvement_of(const Trial& verified) {
  Proposal next;
  next.pass = Pass::kOptimization;
  next.parent = next.rival = verified.attempt.number;
  next.lane = verified.proposal.lane;
  next.generator = verified.proposal.generator;
  return next;
}

std::uint64_t chance(const StrategySettings& settings, const History& history, std::uint64_t salt) {
  // splitmix64 over everything it depends on.
  std::uint64_t x = settings.seed + 0x9e3779b97f4a7c15ull * (history.trials.size() + 1) +
                    0xd1b54a32d192ed03ull * (salt + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace kforge
