// Topological order of a graph's nodes, and the complaints that belong to it: a value made twice, a value
// nobody makes, a cycle.
#pragma once

#include "graph/graph.h"

namespace kforge {

Result<void> sort_nodes(Graph& graph);

}  // namespace kforge
