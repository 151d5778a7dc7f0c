// Floating-point operations of one node.
#pragma once

#include "graph/graph.h"

namespace kforge {

// A multiply-add is 2; exp, tanh, division and the like count 1; moving data counts nothing. Contractions are
// exact, pooling counts its windows, reductions their input, norms a few operations per element, all else one
// per element.
double node_flops(const Graph& bound, const Node& node);

}  // namespace kforge
