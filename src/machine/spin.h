// What comes before a timed sample: cores that run at their working speed, and caches that hold nothing of
// the programs. After idling, bursts on two threads are bimodal by a factor of two; 20 ms of spinning ends
// that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/machine.h"

namespace kforge {

// Keeps the cores busy for the duration, with one sleeping helper thread per core that is kept for the next
// call. With evict_bytes > 0 each helper meanwhile reads and writes every line of a private buffer of that
// size, at least once even if that takes longer, so that its caches hold nothing else. Threads may call it at
// once: they take turns.
void spin_cores(const std::vector<int>& cpus, std::chrono::milliseconds duration, std::size_t evict_bytes);

// Gives the private buffers back to the system: with a large last-level cache they are hundreds of megabytes,
// and nobody needs them while nothing is timed.
void release_eviction_memory();

// How many bytes each core must stream to push everything else out of all its caches: twice its share of
// them.
std::size_t evict_bytes_per_core(const Machine& machine);

// Clock ticks (usually 10 ms) since boot in which the hypervisor ran somebody else, summed over all cpus.
// A sample during which it grows was disturbed. 0 where the system does not tell.
std::uint64_t steal_ticks();

}  // namespace kforge
