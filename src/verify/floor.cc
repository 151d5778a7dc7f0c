#include "verify/floor.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/result.h"

namespace kforge {
namespace {

// Operators that need not read all of their input.
constexpr std::array<std::string_view, 12> kPartialReaders = {
    "Gather", "GatherElements", "GatherND", "Slice",           "Trilu",     "Where",
    "Split",  "Shape",          "Size",     "ScatterElements", "ScatterND", "Opaque"};

bool is_trilu(const Node& node) { return node.op == "Trilu"; }

bool needs_all_of(const Graph& graph, const std::string& value) {
  // A triangular mask somewhere may make parts of any input irrelevant.
  if (std::ranges::any_of(graph.nodes, is_trilu)) return false;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, value) == node.inputs.end()) continue;
    if (std::ranges::find(kPartialReaders, node.op) != kPartialReaders.end()) return false;
  }
  return true;
}

}  // namespace

TimeFloor time_floor(const BoundTask& task, const Machine& machine, const Peaks& peaks) {
  TimeFloor floor;
  for (const BoundArgument& argument : task.arguments) {
    auto bytes = static_cast<double>(argument.bytes());
    if (argument.role == Role::kOutput || argument.role == Role::kInout) floor.bytes += bytes;
    if (argument.role == Role::kInput && needs_all_of(task.graph, argument.name)) floor.bytes += bytes;
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
