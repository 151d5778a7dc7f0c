#include "graph/cost_bytes.h"

#include <algorithm>

namespace kforge {
namespace {

Shape shape_of(const Graph& bound, const std::string& value) {
  auto type = bound.types.find(value);
  return type == bound.types.end() || !type->second.concrete() ? Shape{} : type->second.shape();
}

bool is_view(const Node& node) {
  static constexpr std::string_view kViews[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity",
                                                "Shape",   "Size",    "Constant",  "Dims"};
  return std::ranges::find(kViews, node.op) != std::end(kViews);
}

bool reads_only_what_it_writes(const Node& node) {
  static constexpr std::string_view kSelecting[] = {"Gather", "GatherElements", "GatherND", "Slice", "Split"};
  return std::ranges::find(kSelecting, node.op) != std::end(kSelecting);
}

double outputs_elements(const Graph& bound, const Node& node) {
  double sum = 0;
  for (const std::string& output : node.outputs) sum += value_elements(bound, output);
  return sum;
}

// Elements on and above (below) the k-th diagonal, as a share of the matrix.
double triangle_share(const Graph& bound, const Node& node) {
  Shape shape = shape_of(bound, node.inputs[0]);
  if (shape.size() < 2) return 1;
  std::int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1], k = 0;
  if (node.inputs.size() > 1 && !node.inputs[1].empty()) {
    const Initializer* diagonal = bound.find_initializer(node.inputs[1]);
    if (!diagonal || diagonal->tensor.as_int64().empty()) return 0;
    k = std::clamp<std::int64_t>(diagonal->tensor.as_int64()[0], -rows, columns);
  }
  bool upper = node.int_attr("upper", 1) != 0;
  double kept = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t first_upper = std::clamp<std::int64_t>(row + k, 0, columns);
    kept += static_cast<double>(upper ? columns - first_upper
                                      : std::clamp<std::int64_t>(row + k + 1, 0, columns));
  }
  return kept / std::max(1.0, static_cast<double>(rows) * static_cast<double>(columns));
}

// A window that jumps further than it is wide skips elements.
double window_share(const Graph& bound, const Node& node) {
  std::vector<std::int64_t> kernel = node.ints_attr("kernel_shape"), strides = node.ints_attr("strides");
  if (kernel.empty() && node.inputs.size() > 1) {
    Shape weights = shape_of(bound, node.inputs[1]);
    if (weights.size() > 2) kernel.assign(weights.begin() + 2, weights.end());
  }
  double share = 1;
  for (std::size_t i = 0; i < std::min(kernel.size(), strides.size()); ++i)
    if (strides[i] > 0)
      share *= std::min(1.0, static_cast<double>(kernel[i]) / static_cast<double>(strides[i]));
  return share;
}

double elements_needed_by(const Graph& bound, const Node& node, std::size_t input) {
  double all = value_elements(bound, node.inputs[input]);
  if (node.op == "Shape" || node.op == "Size") return 0;
  if (input == 0 && reads_only_what_it_writes(node)) return std::min(all, outputs_elements(bound, node));
  if (input == 0 && node.op == "Trilu") return all * triangle_share(bound, node);
  bool windowed =
      node.op == "Conv" || node.op == "MaxPool" || node.op == "AveragePool" || node.op == "LpPool";
  if (input == 0 && windowed) return all * window_share(bound, node);
  return all;
}

}  // namespace

double value_elements(const Graph& bound, const std::string& value) {
  auto type = bound.types.find(value);
  if (value.empty() || type == bound.types.end() || !type->second.concrete()) return 0;
  double count = 1;
  for (const Dim& dim : type->second.dims) count *= static_cast<double>(dim.value);
  return count;
}

double value_bytes(const Graph& bound, const std::string& value) {
  auto type = bound.types.find(value);
  return type == bound.types.end()
             ? 0
             : value_elements(bound, value) * static_cast<double>(size_of(type->second.dtype));
}

double node_bytes(const Graph& bound, const Node& node) {
  if (is_view(node)) return 0;
  double bytes = 0;
  for (const std::string& output : node.outputs) bytes += value_bytes(bound, output);
  bool selecting = reads_only_what_it_writes(node);
  if (selecting) bytes *= 2;
  for (std::size_t i = selecting ? 1 : 0; i < node.inputs.size(); ++i)
    bytes += value_bytes(bound, node.inputs[i]);
  return bytes;
}

double bytes_needed(const Graph& bound, const std::string& value) {
  double all = value_elements(bound, value), needed = 0;
  for (const Node& node : bound.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == value) needed += elements_needed_by(bound, node, i);
    // A nested graph may read anything.
    for (const auto& [name, attribute] : node.attributes)
      if (node.graph_attr(name)) needed += all;
  }
  for (const Value& output : bound.outputs)
    if (output.name == value) needed += all;
  return all > 0 ? value_bytes(bound, value) * std::min(1.0, needed / all) : 0;
}

}  // namespace kforge
