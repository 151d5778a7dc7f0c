// Pages of shared memory in this process's view: brought in before a large tensor is written or flushed, and
// let go after it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace kforge {

// All at once is several times quicker than page by page as they are touched. (Linux before 5.14 says no:
// then they come page by page.) Nothing happens to a small tensor.
void bring_in(std::span<std::byte> tensor);

// What was written is for the program, and stays in the shared memory. Out of this process's view it goes, as
// its next use is far away: with several slots and programs it would be many times the tensors.
void let_go(std::span<std::byte> tensor);

// Calls work(piece) for every piece of a tensor: brought in before, let go after, unless it stays in view
// anyway. The pieces of a large one are shared by two threads, as a pass over it is bound by page tables and
// stores; each begins at a multiple of eight bytes from the first.
void in_pieces(std::span<std::byte> tensor, bool stays_in_view,
               const std::function<void(std::span<std::byte>)>& work);

}  // namespace kforge
