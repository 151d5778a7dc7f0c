// Which initializers are part of the computation rather than arguments of a kernel.
#pragma once

#include "graph/graph.h"

namespace kforge {

// Sets Initializer::folded on shapes, axes and other inputs that say how to compute, and on scalars.
void mark_folded_initializers(Graph& graph);

// True when input `index` of the operator says how to compute (Reshape's shape, Slice's starts), not what
// with.
bool is_control_input(const Node& node, std::size_t index);

}  // namespace kforge
