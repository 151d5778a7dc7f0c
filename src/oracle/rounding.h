// What rounding a result to a narrow type (float16, bfloat16) may cost at one element.
#pragma once

#include "graph/dtype.h"

namespace kforge {

// Half a unit in the last place at `want`; a whole one where `want` itself lies on the type's grid: the graph
// may have rounded it, and a value a little beside it rounds to its neighbour. 0 for other types.
double rounding_allowance(DType dtype, double want);

// Positive values from here on are neither zero nor denormal in float, and a program may not flush them to
// zero.
inline constexpr double kLeastRelative = 1e-37;

}  // namespace kforge
