#include "plot/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace kforge {
namespace {

constexpr double kTreeRow = 22, kMargin = 10;

struct Placed {
  const TreeNode* node = nullptr;
  std::size_t depth = 0, row = 0;
  const Placed* parent = nullptr;
};

// Depth first, so that every child stands below its parent; without recursion, for a tree may be one chain of
// thousands. A node whose parents form a circle is never reached from a root and becomes one.
std::vector<Placed> place(const std::vector<TreeNode>& nodes) {
  std::set<int> ids;
  for (const TreeNode& node : nodes) ids.insert(node.id);
  std::map<int, std::vector<const TreeNode*>> children;
  std::vector<const TreeNode*> roots;
  for (const TreeNode& node : nodes)
    if (ids.contains(node.parent) && node.parent != node.id)
      children[node.parent].push_back(&node);
    else
      roots.push_back(&node);
  std::vector<Placed> placed;
  placed.reserve(nodes.size());  // parents are pointed at
  std::set<const TreeNode*> done;
  auto walk = [&](const TreeNode* root) {
    std::vector<std::pair<const TreeNode*, const Placed*>> waiting{{root, nullptr}};
    while (!waiting.empty()) {
      auto [node, parent] = waiting.back();
      waiting.pop_back();
      if (!done.insert(node).second) continue;
      placed.push_back({node, parent ? parent->depth + 1 : 0, placed.size(), parent});
      const Placed* self = &placed.back();
      auto own = children.find(node->id);
      if (own == children.end()) continue;
      for (auto child = own->second.rbegin(); child != own->second.rend(); ++child)
        waiting.emplace_back(*child, self);
    }
  };
  for (const TreeNode* root : roots) walk(root);
  for (const TreeNode& node : nodes) walk(&node);
  return placed;
}

}  // namespace

Markup draw(const TreeChart& chart, double width) {
  Svg svg(width, chart.title);
  const std::vector<Placed> placed = place(chart.nodes);
  std::size_t deepest = 0;
  double figures = 0;
  for (const Placed& p : placed) {
    deepest = std::max(deepest, p.depth);
    figures = std::max(figures, pixels_of(p.node->figure));
  }
  const double indent = deepest == 0 ? 0 : std::min(20.0, 0.4 * width / static_cast<double>(deepest));
  auto x_of = [&](const Placed& p) { return kMargin + indent * static_cast<double>(p.depth); };
  auto y_of = [&](const Placed& p) { return kTreeRow * (static_cast<double>(p.row) + 0.5); };
  for (const Placed& p : placed)
    if (p.parent)
      svg.path(fmt::format("M{} {}L{} {}L{} {}", svg_number(x_of(*p.parent)), svg_number(y_of(*p.parent)),
                           svg_number(x_of(*p.parent)), svg_number(y_of(p)), svg_number(x_of(p)),
                           svg_number(y_of(p))),
               "edge", p.node->on_path ? Tone::kBest : Tone::kPlain);
  for (const Placed& p : placed) {
    const TreeNode& node = *p.node;
    const double x = x_of(p), y = y_of(p);
    if (node.round)
      svg.circle(x, y, 5, "point", node.tone);
    else
      svg.rect(x - 5, y - 5, 10, 10, "point", node.tone);
    const double room = width - x - 12 - (node.figure.empty() ? 0 : pixels_of(node.figure) + 10);
    svg.text(x + 12, y + 4, Anchor::kStart, "label", fitting(node.label, room), node.label);
    svg.text(width - 2, y + 4, Anchor::kEnd, "figure", node.figure);
  }
  return svg.finish(kTreeRow * static_cast<double>(std::max<std::size_t>(placed.size(), 1)));
}

}  // namespace kforge
