// Does the graph compute what the module computes? The oracle on the module's own inputs and weights.
#pragma once

#include <map>
#include <string>

#include "import/bridge.h"
#include "import/exported_graph.h"

namespace kforge {

// The largest difference, as a part of the largest value of its output; -1 where it was not looked at.
struct Agreement {
  double wide = -1;    // both in float64
  double narrow = -1;  // both in float32
  std::string why_not_wide;

  bool good() const;
  std::string text() const;  // "equal within 3.1e-08 (float64), 2.2e-07 (float32)"
};

// At these numbers of the file. An Error: the graph cannot be evaluated, or gives other shapes.
Result<Agreement> module_agreement(Bridge& bridge, const Values& values, const Graph& graph,
                                   const std::map<std::string, std::size_t>& states,
                                   const ModuleFacts& facts);

}  // namespace kforge
