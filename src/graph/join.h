// Exporters take operators apart: GELU comes as five, Mish as three, a group normalisation as a reshape, an
// instance normalisation, a reshape, a product and a sum. Here they become the one operator again that the
// module's author wrote, so that libraries run the kernel they have for it and the smith sees one
// normalisation.
//
// The oracle never looks at a joined graph: it goes on evaluating what the file says, and so judges this too.
#pragma once

#include "graph/graph.h"

namespace kforge {

// REQUIRES: the graph came from bind_dims. Inputs, outputs and initializers that are arguments stay. Where
// the types of a joined graph do not check, the graph stays as it was.
Graph join_operators(const Graph& graph);

}  // namespace kforge
