// The canonical graph as a file for KForge itself: operators of domain "kforge" stay what they are, symbols
// too.
#pragma once

#include <string>

#include "graph/graph.h"

namespace kforge {

// load_graph gives the graph back; other runtimes know to_onnx_model's.
Result<std::string> to_own_model(const Graph& graph);

}  // namespace kforge
