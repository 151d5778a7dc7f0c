// Caches that hold nothing of what a batch will touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "execute/tensor_memory.h"

namespace kforge {

// Bytes that each core has yet to stream through its caches, where `full` pushes everything out of them.
//
// The tensors of the calls are flushed line by line where that moves fewer bytes than streaming would (a
// large server has hundreds of megabytes of last-level cache). What a program keeps for itself cannot be
// flushed from here, as nobody else has it mapped: its scratch, and its own form of the params. So something
// is streamed all the same, and more where such a copy could make a call quicker.
std::size_t flush_tensors(const BoundTask& task, const InputMemory& inputs, const TensorMemory& outputs,
                          std::span<const std::uint32_t> slots, std::size_t full, std::size_t cores);

}  // namespace kforge
