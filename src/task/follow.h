// Where a tensor is really used: its uses in the graph, looked at through nodes that only move or convert it.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace kforge {

struct Use {
  const Node* node;
  std::size_t input;  // which of the node's inputs
  std::string value;  // name of that input: the tensor itself, or its reshaped, transposed, cast form
  // Where it lies along the axis of the last Concat on the way, and how wide it is there; width 0 without a
  // Concat.
  std::int64_t offset = 0, width = 0;
};

// Moving nodes (Cast, Reshape, Transpose, Unsqueeze, Slice, ...) are not uses; what uses their result is.
std::vector<Use> real_uses(const Graph& graph, const std::string& value);

}  // namespace kforge
