// beam: the `width` fastest verified programs are each developed one step further; what broke in the last
// step is mended first. While too little is verified, the free places start from nothing.
#include <algorithm>

#include "search/strategy.h"

namespace kforge {
namespace {

bool has_child(const History& history, const Trial& trial) {
  return history.children(trial.attempt.number) > 0;
}

}  // namespace

std::vector<Proposal> propose_beam(const History& history, const StrategySettings& settings) {
  auto width = static_cast<std::size_t>(settings.width);
  std::vector<const Trial*> frontier, broken;
  for (const Trial& trial : history.trials) {
    if (trial.verified()) {
      frontier.push_back(&trial);
    } else if (!has_child(history, trial) && history.failures_in_a_row(trial) <= settings.repairs) {
      broken.push_back(&trial);
    }
  }
  std::ranges::stable_sort(frontier, std::ranges::greater(),
                           [](const Trial* trial) { return worth(trial->attempt); });
  if (frontier.size() > width) frontier.resize(width);

  std::vector<Proposal> proposals;
  // The newest first: their errors are about the programs at hand. One place is always left for progress.
  std::size_t places = frontier.empty() ? width : std::max<std::size_t>(width - 1, 1);
  for (auto trial = broken.rbegin(); trial != broken.rend() && proposals.size() < places; ++trial)
    proposals.push_back(repair_of(history, **trial));
  for (std::size_t i = 0; proposals.size() < width && !frontier.empty(); ++i)
    proposals.push_back(improvement_of(*frontier[i % frontier.size()]));
  while (proposals.size() < width) proposals.emplace_back();
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    proposals[i].lane = static_cast<int>(i);
    proposals[i].generator = static_cast<int>(i + history.trials.size()) % settings.generators;
  }
  return proposals;
}

}  // namespace kforge
