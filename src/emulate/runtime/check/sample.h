// Which blocks and warps are looked at, and for how many others each of them stands.
//
// In the variant `check` these are the first ones, in `asan` none. In the variant `count` they are drawn by
// the parent's seed, which device code cannot read: the first and the last block and one from each of four
// equal parts of the others; of each block the first warp and one from each of three equal parts of the rest.
// A program that works in other blocks than it is looked at in would have to guess.
#pragma once

#include "../worker.h"

extern "C" const kfe_u32 kfe_bounds_only, kfe_counts;

namespace kfe::check {

void sample_call(const KfeProgram& program, const void* asked);  // KfeAsked, or null
void sample_call_ends();
bool sample_partial();  // only the blocks that are looked at run
void sample_launch(const KfeStep& step);
void sample_launch_ends();
bool sample_has(uint64_t block);  // of the launch
void sample_block(Worker& worker);
void sample_block_ends();
void sample_barrier();
void sample_meeting(uint32_t warp, double shuffles);
void sample_move(uint64_t bytes);

double block_weight();              // of the block that runs; 0: it is not looked at
double warp_weight(uint32_t warp);  // of one of its warps
uint32_t launch_row();              // in the report

// Memory that the blocks touch, each sector once (uses.cc).
void use_memory(uint32_t region, const char* name, uint64_t bytes);
void use_access(uint32_t region, uint64_t offset, uint64_t size, bool write);
void use_block_ends();

}  // namespace kfe::check
