#include "search/strategy.h"

#include <algorithm>

#include "search/passes.h"

namespace kforge {

std::span<const StrategyEntry> all_strategies() {
  static constexpr StrategyEntry kStrategies[] = {
      {"chain", "one line: repair until right, then one recommended change at a time", 1, false,
       propose_chain},
      {"best-of", "several models or tries at once; the fastest verified program wins", 0, true,
       propose_best_of},
      {"beam", "the few fastest programs are each developed further", 3, true, propose_beam},
      {"tree", "any earlier program may be developed or mended, mostly the best", 2, true, propose_tree},
      {"evolve", "islands of programs that sometimes exchange their best", 3, true, propose_evolve},
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
  const Attempt *best = nullptr, *last = nullptr;
  for (const Attempt& attempt : history.attempts) {
    if (attempt.proposal.lane != lane) continue;
    last = &attempt;
    state.pass = attempt.proposal.pass;
    Event event = !can_grow(attempt) ? Event::kFailed : attempt.better() ? Event::kBetter : Event::kVerified;
    state = after(state, event, repairs);
    if (can_grow(attempt) && (!best || attempt.better())) best = &attempt;
  }
  Proposal next;
  next.lane = lane;
  next.pass = state.pass;
  if (state.from == From::kLast && last) next.parent = last->number;
  if (state.from == From::kBest && best) next.parent = best->number;
  if (best && best->verified()) next.rival = best->number;
  return next;
}

Proposal repair_of(const History& history, const Attempt& failed) {
  Proposal next;
  next.pass = Pass::kFunctional;
  next.parent = failed.number;
  const Attempt* ancestor = &failed;
  while (ancestor && !ancestor->verified()) ancestor = history.find(ancestor->proposal.parent);
  if (ancestor) next.rival = ancestor->number;
  next.lane = failed.proposal.lane;
  next.generator = failed.proposal.generator;
  return next;
}

Proposal improvement_of(const Attempt& attempt) {
  Proposal next;
  next.pass = Pass::kOptimization;
  next.parent = attempt.number;
  if (attempt.verified()) next.rival = attempt.number;
  next.lane = attempt.proposal.lane;
  next.generator = attempt.proposal.generator;
  return next;
}

void number_siblings(std::vector<Proposal>& proposals) {
  for (Proposal& one : proposals) {
    auto same = [&](const Proposal& other) { return other.pass == one.pass && other.parent == one.parent; };
    one.siblings = static_cast<int>(std::ranges::count_if(proposals, same));
    one.sibling = static_cast<int>(std::count_if(proposals.data(), &one, same));
  }
}

std::uint64_t chance(const StrategySettings& settings, const History& history, std::uint64_t salt) {
  // splitmix64 over everything it depends on.
  std::uint64_t x = settings.seed + 0x9e3779b97f4a7c15ull * (history.attempts.size() + 1) +
                    0xd1b54a32d192ed03ull * (salt + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace kforge
