// What an integer tensor indexes.
#pragma once

#include "graph/graph.h"

namespace kforge {

// Smallest extent among the dimensions that `value` indexes (Gather, Scatter, OneHot, labels of losses), 0
// when it indexes nothing. REQUIRES: a bound graph.
std::int64_t index_limit_of(const Graph& graph, const std::string& value);

}  // namespace kforge
