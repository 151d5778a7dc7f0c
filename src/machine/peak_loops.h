// The loops that are timed to find out what this machine reaches. Compiled with full optimisation and without
// sanitizers in every build, each function for its own instruction set.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace kforge {

// Does `rounds` rounds of fused multiply-adds in registers and returns the number of flops.
struct FlopLoop {
  double (*fp32)(long rounds);
  double (*fp64)(long rounds);
};
// The widest vectors among the features; plain SSE2 (multiply, then add) where there is no fma.
FlopLoop choose_flop_loop(const std::set<std::string>& features);

// Loops over memory. REQUIRES: pointers 64-byte aligned, bytes a multiple of 512.
struct MemoryLoops {
  void (*read)(const char* source, std::size_t bytes);
  void (*copy)(char* destination, const char* source, std::size_t bytes);
  void (*copy_streaming)(char* destination, const char* source, std::size_t bytes);  // past the caches
};
MemoryLoops choose_memory_loops(const std::set<std::string>& features);

}  // namespace kforge
