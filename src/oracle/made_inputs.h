// The values of a call, as the oracle reads them.
#pragma once

#include <vector>

#include "oracle/oracle.h"
#include "task/inputs.h"

namespace kforge {

// Of all arguments that are read, in their order.
struct MadeInputs {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<TensorView> views;
};

MadeInputs make_inputs(const BoundTask& task, const InputChoice& params, const InputChoice& rest);

}  // namespace kforge
