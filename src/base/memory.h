// The process's and the system's memory.
#pragma once

#include <cstddef>

namespace kforge {

// Of the machine, used or not.
std::size_t physical_memory();

// Bytes the system can still give without swapping; a very large number where it does not say.
std::size_t available_memory();

// Memory that large tensors leave is kept for the next ones, up to an eighth of what the system has to give.
// By default the C library returns each to the system, and touching new pages again costs more than most
// operators. For the start of a program, before it has threads.
void keep_freed_memory();

}  // namespace kforge
