#include "graph/cost.h"

#include "graph/cost_bytes.h"
#include "graph/cost_flops.h"

namespace kforge {

GraphCost count_cost(const Graph& bound) {
  GraphCost cost;
  for (const Node& node : bound.nodes) {
    NodeCost one{node.name, node.op, node_flops(bound, node), node_bytes(bound, node)};
    cost.flops += one.flops;
    cost.unfused_bytes += one.bytes;
    cost.nodes.push_back(std::move(one));
  }
  for (const Value& input : bound.inputs) cost.compulsory_bytes += bytes_needed(bound, input.name);
  for (const Initializer& initializer : bound.initializers)
    if (!initializer.folded) cost.compulsory_bytes += bytes_needed(bound, initializer.name);
  for (const Value& output : bound.outputs) cost.written_bytes += value_bytes(bound, output.name);
  cost.compulsory_bytes += cost.written_bytes;
  return cost;
}

}  // namespace kforge
