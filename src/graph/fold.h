// Evaluates small constant nodes: Constant itself, and the integer arithmetic with which exported models
// compute shapes (Shape, Gather, Concat, Mul, ...). Everything else is left to the oracle.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kforge {

// Value of the node's only output, or nothing when it cannot or should not be folded. `inputs` holds null for
// inputs that are not constant, `types` what is known of each.
std::optional<ConstantTensor> fold_node(const Node& node, const std::vector<const ConstantTensor*>& inputs,
                                        const std::vector<std::optional<TensorType>>& types);

}  // namespace kforge
