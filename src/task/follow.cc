#include "task/follow.h"

#include <algorithm>
#include <map>

namespace kforge {
namespace {

// With which input such a node passes the tensor on.
bool moves(const Node& node, std::size_t input) {
  static constexpr std::string_view kMoving[] = {
      "Cast",     "CastLike", "Reshape", "Transpose",        "Unsqueeze", "Squeeze", "Flatten",
      "Identity", "Expand",   "Slice",   "DequantizeLinear", "Concat",    "Tile",    "Split"};
  if (std::ranges::find(kMoving, node.op) == std::end(kMoving)) return false;
  return input == 0 || node.op == "Concat";
}

// Extent of a Concat's input along its axis.
std::int64_t extent_along(const Graph& graph, const Node& concat, std::size_t input) {
  auto type = graph.types.find(concat.inputs[input]);
  if (type == graph.types.end() || !type->second.concrete()) return 0;
  Shape shape = type->second.shape();
  std::int64_t axis = concat.int_attr("axis", 0), rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? shape[axis] : 0;
}

}  // namespace

std::vector<Use> real_uses(const Graph& graph, const std::string& value) {
  std::vector<Use> uses;
  struct Form {
    std::int64_t offset = 0, width = 0;
  };
  std::map<std::string, Form> forms = {{value, {}}};
  // Nodes are sorted, so one pass sees every form before its users.
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      auto form = forms.find(node.inputs[i]);
      if (form == forms.end()) continue;
      if (!moves(node, i)) {
        uses.push_back({&node, i, node.inputs[i], form->second.offset, form->second.width});
        continue;
      }
      Form moved = form->second;
      if (node.op == "Concat") {
        moved = {0, extent_along(graph, node, i)};
        for (std::size_t before = 0; before < i; ++before) moved.offset += extent_along(graph, node, before);
      }
      for (const std::string& output : node.outputs) forms.emplace(output, moved);
    }
  return uses;
}

}  // namespace kforge
