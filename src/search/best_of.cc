// best-of: as many lines of descent as agents (or tries), side by side and unknown to each other; the fastest
// verified program of all wins.
#include <algorithm>

#include "search/strategy.h"

namespace kforge {

std::vector<Proposal> propose_best_of(const History& history, const StrategySettings& settings) {
  std::vector<Proposal> proposals;
  for (int lane = 0; lane < std::max(settings.width, settings.generators); ++lane) {
    proposals.push_back(next_in_lane(history, lane, settings.repairs));
    proposals.back().generator = lane % settings.generators;
  }
  return proposals;
}

}  // namespace kforge
