// How far a graph's results may be from the truth when its operators round in another way.
//
// The yardstick (the graph in fp32) rounds in one order, a kernel in another, and has roundings of its own (a
// score times log2(e)). Where a result has few elements and one of them hangs on a last bit (a softmax of
// large scores), that one order may have been lucky, and an honest kernel looks wrong beside it. So a few
// more are drawn.
#pragma once

#include <span>
#include <vector>

#include "oracle/oracle.h"

namespace kforge {

// Whether inputs and results are small: so cheap that drawing is no question, and needed, because the
// yardstick has not drawn often enough by itself.
bool few_values(std::span<const TensorView> inputs, const std::vector<OracleTensor>& truth);

// For each of the results `truth` of `graph` the largest error among a few draws, in each of which every
// rounded value of the graph in fp32 is moved by up to one unit in the last place; with `inputs_too` also
// every element of a float32 input, which shows what an operator rounds inside (the mean of a normalisation).
std::vector<double> errors_of_other_roundings(const Graph& graph, std::span<const TensorView> inputs,
                                              const std::vector<OracleTensor>& truth, int threads,
                                              bool inputs_too = false);

}  // namespace kforge
