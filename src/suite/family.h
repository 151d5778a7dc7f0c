// The family of a problem, for tables: what kind of operator its time goes to.
#pragma once

#include <string>

#include "graph/graph.h"

namespace kforge {

// "attention", "convolution", "matmul", "recurrent", "normalization", "pooling", "scan", "reduction",
// "activation" or "movement"; a graph with several is of the one named first here. "other" where none is
// known.
std::string family_of(const Graph& graph);

}  // namespace kforge
