// Work of a bound graph: floating-point operations and compulsory bytes, from the graph alone.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace kforge {

struct NodeCost {
  std::string node;  // Node::name
  std::string op;
  double flops = 0;  // a multiply-add is 2; exp, tanh, division and the like count 1
  double bytes = 0;  // inputs read once + outputs written once, as an unfused program would
};

struct GraphCost {
  double flops = 0;             // sum over nodes
  double compulsory_bytes = 0;  // graph inputs and initializers read once, graph outputs written once
  double written_bytes = 0;     // of compulsory_bytes
  double unfused_bytes = 0;     // sum over nodes
  std::vector<NodeCost> nodes;

  double intensity() const { return compulsory_bytes > 0 ? flops / compulsory_bytes : 0; }
};

// REQUIRES: graph came from bind_dims (all shapes concrete). Embedding-style Gather counts only the rows
// read.
GraphCost count_cost(const Graph& bound);

}  // namespace kforge
