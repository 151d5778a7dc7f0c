// evolve: islands, each with the verified programs it has made. A parent is chosen by a small tournament,
// another program lends its ideas; every few generations an island takes the best of its neighbour as parent.
#include <algorithm>

#include "search/strategy.h"

namespace kforge {
namespace {

std::vector<const Attempt*> population(const History& history, int island) {
  std::vector<const Attempt*> programs;
  for (const Attempt& attempt : history.attempts)
    if (can_grow(attempt) && attempt.proposal.lane == island) programs.push_back(&attempt);
  return programs;
}

const Attempt* tournament(const std::vector<const Attempt*>& programs, std::uint64_t draw) {
  const Attempt* a = programs[draw % programs.size()];
  const Attempt* b = programs[(draw >> 32) % programs.size()];
  return merit(*a) >= merit(*b) ? a : b;
}

}  // namespace

std::vector<Proposal> propose_evolve(const History& history, const StrategySettings& settings) {
  int islands = std::max(settings.width, 1);
  int generation = static_cast<int>(history.attempts.size()) / islands;
  bool migration = generation > 0 && generation % settings.migrate == 0;
  std::vector<Proposal> proposals;
  for (int island = 0; island < islands; ++island) {
    // An island whose last program broke mends it, as a chain does.
    Proposal next = next_in_lane(history, island, settings.repairs);
    auto own = population(history, island);
    auto salt = static_cast<std::uint64_t>(island);
    const Attempt* neighbour = history.best((island + islands - 1) % islands);
    if (next.pass == Pass::kOptimization && !own.empty()) {
      const Attempt* parent =
          migration && neighbour ? neighbour : tournament(own, chance(settings, history, 2 * salt));
      next.parent = parent->number;
      const Attempt* other = tournament(own, chance(settings, history, 2 * salt + 1));
      if (other != parent) next.inspiration = other->number;
    } else if (own.empty() && migration && neighbour) {
      next = improvement_of(*neighbour);
    }
    next.lane = island;
    next.generator = (island + generation) % settings.generators;
    proposals.push_back(next);
  }
  return proposals;
}

}  // namespace kforge
