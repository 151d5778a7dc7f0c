// A sum of what a matrix product gives, moved to where it costs less: the sum over N of (x W + b) is x times
// the sum over N of W, plus the sum of b. Exact algebra, but less arithmetic than the graph says: a program
// that uses it is reported as `algebraic`, so that tables can show it apart.
#pragma once

#include "smith/graph/program.h"

namespace kforge::smith {

// Sums and means over the output features of a product (with factors and terms around it), and of windows of
// them. Each rewrite leaves a line in `algebra` of the program.
Program push_sums(Program program);

}  // namespace kforge::smith
