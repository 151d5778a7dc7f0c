// tree: every program tried stays a node that may be taken up again. A few drafts first; then a broken leaf
// is mended (the debug role), or a verified node is developed (plan and code): the fastest one that has not
// been developed often, or now and then any one by chance.
#include <algorithm>

#include "search/strategy.h"

namespace kforge {
namespace {

constexpr int kDrafts = 2;
constexpr int kManyChildren = 3;

const Attempt* broken_leaf(const History& history, const StrategySettings& settings, std::uint64_t draw,
                           const std::vector<int>& taken) {
  std::vector<const Attempt*> leaves;
  for (const Attempt& attempt : history.attempts)
    if (!can_grow(attempt) && history.children(attempt.number) == 0 &&
        history.failures_in_a_row(attempt) <= settings.repairs &&
        std::ranges::count(taken, attempt.number) == 0)
      leaves.push_back(&attempt);
  return leaves.empty() ? nullptr : leaves[draw % leaves.size()];
}

const Attempt* node_to_develop(const History& history, const StrategySettings& settings, std::uint64_t draw,
                               const std::vector<int>& taken) {
  std::vector<const Attempt*> nodes;
  for (const Attempt& attempt : history.attempts)
    if (can_grow(attempt)) nodes.push_back(&attempt);
  if (nodes.empty()) return nullptr;
  bool by_chance = static_cast<double>(draw % 1000) < 1000 * settings.epsilon;
  if (by_chance) return nodes[(draw / 1000) % nodes.size()];
  std::ranges::stable_sort(nodes, std::ranges::greater(),
                           [](const Attempt* attempt) { return merit(*attempt); });
  for (const Attempt* node : nodes)
    if (history.children(node->number) + std::ranges::count(taken, node->number) < kManyChildren) return node;
  return nodes.front();
}

}  // namespace

std::vector<Proposal> propose_tree(const History& history, const StrategySettings& settings) {
  std::vector<Proposal> proposals;
  std::vector<int> taken;
  auto drafts = std::ranges::count(history.attempts, -1,
                                   [](const Attempt& attempt) { return attempt.proposal.parent; });
  for (int i = 0; i < settings.width; ++i) {
    auto salt = 2 * static_cast<std::uint64_t>(i);
    const Attempt* broken = broken_leaf(history, settings, chance(settings, history, salt), taken);
    const Attempt* node = node_to_develop(history, settings, chance(settings, history, salt + 1), taken);
    bool mend = broken && (!node || chance(settings, history, salt) % 2 == 0);
    Proposal next;
    if (drafts < kDrafts) {
      ++drafts;
    } else if (mend) {
      next = repair_of(history, *broken);
    } else if (node) {
      next = improvement_of(*node);
    }
    if (next.parent >= 0) taken.push_back(next.parent);
    next.lane = i;
    next.generator = static_cast<int>(history.attempts.size() + proposals.size()) % settings.generators;
    proposals.push_back(next);
  }
  return proposals;
}

}  // namespace kforge
