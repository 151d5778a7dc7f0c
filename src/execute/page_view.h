// Pages of shared memory in this process's view: brought in before a large tensor is written or flushed, and
// let go after it.
#pragma once

#include <cstddef>
#include <span>

namespace kforge {

// All at once is several times quicker than page by page as they are touched. (Linux before 5.14 says no:
// then they come page by page.) Nothing happens to a small tensor.
void bring_in(std::span<std::byte> tensor);

// What was written is for the program, and stays in the shared memory. Out of this process's view it goes, as
// its next use is far away: with several slots and programs it would be many times the tensors.
void let_go(std::span<std::byte> tensor);

}  // namespace kforge
