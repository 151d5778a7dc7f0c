// Puts a task's values into memory before a call. The seed and kind decide everything, so that the oracle, a
// timed call and a repetition of it in a fresh process all see the same values.
#pragma once

#include <cstdint>

#include "execute/tensor_memory.h"
#include "task/inputs.h"

namespace kforge {

void fill_params(const BoundTask& task, const InputMemory& memory, const InputChoice& choice);
// The inputs of one slot, with the canaries around them.
void fill_inputs(const BoundTask& task, const InputMemory& memory, const InputChoice& choice,
                 std::uint32_t slot);
// The outputs of one slot poisoned, its inouts restored, canaries set.
void reset_outputs(const BoundTask& task, const TensorMemory& outputs, const InputChoice& choice,
                   std::uint32_t slot);

}  // namespace kforge
