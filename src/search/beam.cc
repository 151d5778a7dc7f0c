// beam: the `width` fastest verified programs are each developed one step further; what broke in the last
// step is mended first. While too little is verified, the free places start from nothing.
#include <algorithm>

#include "search/strategy.h"

namespace kforge {
namespace {

bool has_child(const History& history, const Attempt& attempt) {
  return history.children(attempt.number) > 0;
}

}  // namespace

std::vector<Proposal> propose_beam(const History& history, const StrategySettings& settings) {
  auto width = static_cast<std::size_t>(settings.width);
  std::vector<const Attempt*> frontier, broken;
  for (const Attempt& attempt : history.attempts) {
    if (can_grow(attempt)) {
      frontier.push_back(&attempt);
    } else if (!has_child(history, attempt) && history.failures_in_a_row(attempt) <= settings.repairs) {
      broken.push_back(&attempt);
    }
  }
  std::ranges::stable_sort(frontier, std::ranges::greater(),
                           [](const Attempt* attempt) { return merit(*attempt); });
  if (frontier.size() > width) frontier.resize(width);

  std::vector<Proposal> proposals;
  // The newest first: their errors are about the programs at hand. One place is always left for progress.
  std::size_t places = frontier.empty() ? width : std::max<std::size_t>(width - 1, 1);
  for (auto attempt = broken.rbegin(); attempt != broken.rend() && proposals.size() < places; ++attempt)
    proposals.push_back(repair_of(history, **attempt));
  for (std::size_t i = 0; proposals.size() < width && !frontier.empty(); ++i)
    proposals.push_back(improvement_of(*frontier[i % frontier.size()]));
  while (proposals.size() < width) proposals.emplace_back();
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    proposals[i].lane = static_cast<int>(i);
    proposals[i].generator = static_cast<int>(i + history.attempts.size()) % settings.generators;
  }
  return proposals;
}

}  // namespace kforge
