#include "task/index_limit.h"

#include <algorithm>
#include <optional>

#include "task/follow.h"

namespace kforge {
namespace {

std::optional<Shape> shape_of(const Graph& graph, const std::string& value) {
  auto type = graph.types.find(value);
  if (type == graph.types.end() || !type->second.concrete()) return std::nullopt;
  return type->second.shape();
}

std::int64_t extent_at(const Graph& graph, const std::string& value, std::int64_t axis) {
  auto shape = shape_of(graph, value);
  if (!shape) return 0;
  auto rank = static_cast<std::int64_t>(shape->size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? (*shape)[axis] : 0;
}

// Index tuples along the last axis: the smallest of the dimensions they address. A tensor that is only some
// columns of the tuples addresses only those.
std::int64_t smallest_leading(const Graph& graph, const Use& use, std::int64_t first_axis) {
  auto data = shape_of(graph, use.node->inputs[0]), indices = shape_of(graph, use.node->inputs[1]);
  if (!data || !indices || indices->empty()) return 0;
  std::int64_t limit = 0, begin = use.width > 0 ? use.offset : 0;
  std::int64_t end = use.width > 0 ? std::min(use.offset + use.width, indices->back()) : indices->back();
  for (std::int64_t i = begin; i < end && first_axis + i < static_cast<std::int64_t>(data->size()); ++i) {
    std::int64_t extent = (*data)[first_axis + i];
    limit = limit == 0 ? extent : std::min(limit, extent);
  }
  return limit;
}

std::int64_t limit_at(const Graph& graph, const Use& use) {
  const Node& node = *use.node;
  if (use.input == 1) {
    if (node.op == "Gather" || node.op == "GatherElements" || node.op == "ScatterElements")
      return extent_at(graph, node.inputs[0], node.int_attr("axis", 0));
    if (node.op == "GatherND") return smallest_leading(graph, use, node.int_attr("batch_dims", 0));
    if (node.op == "ScatterND") return smallest_leading(graph, use, 0);
    if (node.op == "NegativeLogLikelihoodLoss" || node.op == "SoftmaxCrossEntropyLoss")
      return extent_at(graph, node.inputs[0], 1);
  }
  if (use.input == 0 && node.op == "OneHot" && node.inputs.size() > 1)
    if (const Initializer* depth = graph.find_initializer(node.inputs[1]))
      if (element_count(depth->tensor.shape) == 1)
        return std::max<std::int64_t>(0, depth->tensor.as_int64()[0]);
  return 0;
}

}  // namespace

std::int64_t index_limit_of(const Graph& graph, const std::string& value) {
  std::int64_t limit = 0;
  for (const Use& use : real_uses(graph, value))
    if (std::int64_t here = limit_at(graph, use); here > 0) limit = limit == 0 ? here : std::min(limit, here);
  return limit;
}

}  // namespace kforge
