// Puts a task's values into memory before a call. The seed and kind decide everything, so that the oracle, a
// timed call and a repetition of it in a fresh process all see the same values.
#pragma once

#include <cstdint>

#include "execute/tensor_memory.h"
#include "task/inputs.h"

namespace kforge {

struct InputChoice {
  InputKind kind = InputKind::kOwn;
  std::uint64_t seed = 0;
};

void fill_params(const BoundTask& task, const InputMemory& memory, InputChoice choice);
// The inputs of one slot, with the canaries around them.
void fill_inputs(const BoundTask& task, const InputMemory& memory, InputChoice choice, std::uint32_t slot);
// A few elements of each input of a slot get other values: nearly the same input, and with another result.
void disturb_inputs(const BoundTask& task, const InputMemory& memory, std::uint64_t seed, std::uint32_t slot);
// The outputs of one slot poisoned, its inouts restored, canaries set.
void reset_outputs(const BoundTask& task, const TensorMemory& outputs, InputChoice choice,
                   std::uint32_t slot);

}  // namespace kforge
