// Runs loop nests as they are written, in double: what the tests compare schedules with. Parallel loops run
// in an order drawn from `seed`, so that a schedule that needs an order is found out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "smith/loops/loops.h"

namespace kforge::smith {

// `memory` holds arguments (and constants) by tensor name; results and temporaries are added to it. An Error
// where the nest reads or writes outside of a tensor, or contains native code.
Result<void> interpret(const Nest& nest, std::map<std::string, std::vector<double>>& memory,
                       std::uint64_t seed);

}  // namespace kforge::smith
