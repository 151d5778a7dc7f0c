// Shape sets for a bare .onnx file, which has none.
#pragma once

#include <set>

#include "task/task.h"

namespace kforge {

// Symbols of the graph's inputs and of kforge.Dims nodes.
std::set<std::string> symbols_of(const Graph& graph);

// Dimensions without number and symbol get a symbol of their own ("x_0"), so that a shape set can name them.
void name_unknown_dims(Graph& graph);

// bench, small and odd with customary numbers; a set on which the graph does not bind is left out. An Error
// when not even bench binds.
Result<std::map<std::string, std::vector<ShapeCase>>> default_shapes(const Graph& graph);

}  // namespace kforge
