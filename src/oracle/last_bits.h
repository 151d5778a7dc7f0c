// How far a graph's results move with the last bits of its inputs.
//
// The yardstick (the graph in fp32) rounds in one order, a kernel in another. Where a result has few elements
// and one of them hangs on the last bits (a softmax of large scores), that one order may have been lucky, and
// an honest kernel looks wrong beside it. So a few more are drawn: the truth for inputs whose last bits are
// changed.
#pragma once

#include <span>
#include <vector>

#include "oracle/oracle.h"

namespace kforge {

// For each of the results `truth` of `graph` the largest change among a few draws; zeros where inputs or
// results are so large that the yardstick alone has drawn often enough.
std::vector<double> moved_by_last_bits(const Graph& graph, std::span<const TensorView> inputs,
                                       const std::vector<OracleTensor>& truth, int threads);

}  // namespace kforge
