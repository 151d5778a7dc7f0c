// Types of every value, by libonnx's own inference functions, node by node in order, so that an error names
// its node and small integer computations (shapes, axes) can be folded on the way.
#pragma once

#include "graph/graph.h"

namespace kforge {

// Fills graph.types and the types of graph.outputs; replaces Constant nodes and foldable integer nodes by
// folded initializers. REQUIRES: nodes are sorted. `dims` gives kforge.Dims its numbers (null: symbols are
// not bound yet).
Result<void> infer_types(Graph& graph, const std::map<std::string, std::int64_t>* dims);

}  // namespace kforge
