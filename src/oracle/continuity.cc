#include "oracle/continuity.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "oracle/nudge.h"

namespace kforge {
namespace {

// Besides those that round (oracle/nudge.h).
bool known(const Node& node) {
  static const std::set<std::string_view> kOperators = {
      // of values
      "Abs", "Attention", "Clip", "Dropout", "GRU", "GlobalMaxPool", "LSTM", "LeakyRelu", "Max", "MaxPool",
      "Min", "Neg", "PRelu", "RNN", "ReduceL1", "ReduceMax", "ReduceMin", "Relu",
      // that move them
      "Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity",
      "Pad", "Reshape", "Shape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose",
      "Unsqueeze"};
  return kOperators.contains(node.op) || computes(node);
}

}  // namespace

bool continuous(const Graph& graph) { return std::ranges::all_of(graph.nodes, known); }

}  // namespace kforge
