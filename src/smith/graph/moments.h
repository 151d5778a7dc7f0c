// Mean and variance over axes, safe where the mean is large beside the spread.
#pragma once

#include "smith/graph/reducing.h"

namespace kforge::smith {

struct Moments {
  Value mean, inverse, variance;  // inverse = 1 / (sqrt(variance + epsilon) + after_root)
};

// Rows that stay in cache are read twice: for the mean, then for the distances to it. Longer ones are read
// once, block by block, and the moments of the blocks are put together.
Moments moments(Lowering& l, const Value& x, const Axes& axes, double epsilon, const std::string& hint,
                double after_root = 0);

}  // namespace kforge::smith
