// A module that no exporter takes as a task all the same: its reference is the module itself, run by the
// bridge.
#pragma once

#include "import/sizes.h"

namespace kforge {

// The task's graph is one node (graph/opaque.h). Which numbers of the file are sizes is seen by changing each
// alone: those that shapes follow. `why` tells why there is no graph. An Error: the module does not run.
Result<SizedGraph> opaque_graph(Bridge& bridge, const std::string& source, const Values& real,
                                const std::string& why);

// Adds the dimensions that follow the numbers in a way of their own, as the module has them at these numbers.
Result<void> add_derived(Bridge& bridge, const SizedGraph& sized, Values& values);

}  // namespace kforge
