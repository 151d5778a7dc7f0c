// Whether a graph's results follow its values without jumps. Where they do, how far they move when values are
// rounded otherwise is what rounding costs; where they do not (Floor, ArgMax), it may be the other side of a
// step.
#pragma once

#include "graph/graph.h"

namespace kforge {

// Every operator is known to be continuous, or only moves values. Unknown operators, casts and subgraphs are
// not.
bool continuous(const Graph& graph);

}  // namespace kforge
