// What an exporter wrote, as the graph of a task: inputs of the module first, then the weights it uses.
#pragma once

#include <map>
#include <string>

#include "import/module_facts.h"

namespace kforge {

struct ExportedGraph {
  Graph graph;
  // Graph inputs that are states of the module: their place in ModuleFacts::states.
  std::map<std::string, std::size_t> states;
};

// `loaded` has the module's inputs and, behind them, states under the names "module_...". States that reach
// no output are left out: those without a use, and running averages where a batch normalisation uses the
// batch's own statistics.
Result<ExportedGraph> tidy_export(Graph loaded, const ModuleFacts& facts);

// The input becomes an initializer with these values.
void give_values(Graph& graph, const std::string& input, DType dtype, const Shape& shape,
                 std::string_view data);

}  // namespace kforge
