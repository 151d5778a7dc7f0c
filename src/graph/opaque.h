// Graphs that only name a PyTorch module, because no exporter could tell what it computes.
#pragma once

#include "graph/graph.h"

namespace kforge {

// Whether a module computes the graph's outputs: node kforge.Opaque (graph/kforge_functions.h).
bool is_opaque(const Graph& graph);

}  // namespace kforge
