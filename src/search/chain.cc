// chain: one line of descent. Several agents take turns.
#include "search/strategy.h"

namespace kforge {

std::vector<Proposal> propose_chain(const History& history, const StrategySettings& settings) {
  Proposal next = next_in_lane(history, 0, settings.repairs);
  next.generator = static_cast<int>(history.attempts.size()) % settings.generators;
  return {next};
}

}  // namespace kforge
