#include "verify/floor.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kforge {
namespace {

// Operators that need not read all of their input.
constexpr std::array<std::string_view, 21> kPartialReaders = {
    "Gather",   "GatherElements", "GatherND", "Slice",      "Trilu", "Where",  "Split",
    "Shape",    "Size",           "Resize",   "GridSample", "If",    "Loop",   "Scan",
    "Compress", "RoiAlign",       "Upsample", "ScatterND",  "Pad",   "Opaque", "ScatterElements"};
// The same, by windows that may lie apart from each other.
constexpr std::array<std::string_view, 4> kWindows = {"Conv", "MaxPool", "AveragePool", "LpPool"};

bool is_one_of(std::span<const std::string_view> names, const Node& node) {
  return std::ranges::find(names, node.op) != names.end();
}

// How far a window reaches along each axis; empty where nothing says it.
Shape window_of(const BoundTask& task, const Node& node) {
  if (node.has_attr("kernel_shape")) return node.ints_attr("kernel_shape");
  for (const BoundArgument& argument : task.arguments)
    if (node.inputs.size() > 1 && argument.name == node.inputs[1] && argument.shape.size() > 2)
      return {argument.shape.begin() + 2, argument.shape.end()};
  return {};
}

// A window of one with a step of two leaves out every other element.
bool windows_lie_apart(const BoundTask& task, const Node& node) {
  const Shape steps = node.ints_attr("strides"), window = window_of(task, node);
  for (std::size_t axis = 0; axis < steps.size(); ++axis)
    if (steps[axis] > 1 && (axis >= window.size() || window[axis] < steps[axis])) return true;
  return std::ranges::any_of(node.ints_attr("dilations"), [](std::int64_t d) { return d > 1; });
}

bool leaves_out(const BoundTask& task, const Node& node) {
  return is_one_of(kPartialReaders, node) || (is_one_of(kWindows, node) && windows_lie_apart(task, node));
}

bool needs_all_of(const BoundTask& task, const std::string& value) {
  const Graph& graph = task.graph;
  // A triangular mask somewhere may make parts of any input irrelevant.
  if (std::ranges::any_of(graph.nodes, [](const Node& node) { return node.op == "Trilu"; })) return false;
  // What is left out of a result need not be computed, nor what it would be computed from be read.
  std::set<std::string> reached{value};
  for (const Node& node : graph.nodes) {
    auto is_reached = [&](const std::string& name) { return reached.contains(name); };
    if (std::ranges::none_of(node.inputs, is_reached)) continue;
    if (leaves_out(task, node)) return false;
    reached.insert(node.outputs.begin(), node.outputs.end());
  }
  return true;
}

}  // namespace

TimeFloor time_floor(const BoundTask& task, const Machine& machine, const Peaks& peaks) {
  TimeFloor floor;
  for (const BoundArgument& argument : task.arguments) {
    auto bytes = static_cast<double>(argument.bytes());
    // What is updated in place need not be touched where it stays as it is.
    const bool given = argument.role == Role::kInput || argument.role == Role::kInout;
    if (argument.role == Role::kOutput || (given && needs_all_of(task, argument.name))) floor.bytes += bytes;
  }
  double bandwidth = 0;
  bool in_memory = false;
  for (const Bandwidth& level : peaks.bandwidths) {
    const double rate = std::max(level.read_gb_s, level.copy_gb_s),
                 capacity = cache_capacity(machine, level.level);
    if (in_memory && rate < bandwidth) continue;  // of the kinds of memory the quickest
    bandwidth = rate;
    floor.level = level.level;
    in_memory = capacity == 0;
    // Levels come smallest first; the first that holds the bytes decides, memory at the latest.
    if (capacity >= floor.bytes) break;
  }
  if (bandwidth > 0) floor.bytes_ns = floor.bytes / bandwidth / kFloorMargin;
  if (peaks.fp32_gflops > 0)
    floor.flops_ns = task.cost.flops / std::max(peaks.fp32_gflops, peaks.amx_bf16_gflops);
  return floor;
}

}  // namespace kforge
