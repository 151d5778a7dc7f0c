// Who touched each word last, and the rule that finds races: the same word in one launch, two threads, at
// least one write, not both atomic, and nothing that orders them: a barrier of their block, a meeting of
// their lanes, or a fence before an atomic that the other one has seen.
#pragma once

#include <stdint.h>

#include "../worker.h"

namespace kfe::check {

// Memory a kernel may touch.
struct Region {
  const char* name;
  uintptr_t begin, end;
  uint32_t granule;  // bytes that share a cell: no more than an element
  struct Cell* cells;
  uint64_t cell_count;
  bool read_only;  // what prepare made, for the launches of a call
};

struct Access {
  uint32_t time;    // 0: none
  uint32_t thread;  // block * 1024 + thread
  uint32_t place;   // offset of the instruction; the highest bit: atomic
};
struct Cell {
  Access write, read, other_read;
};

// Order within a launch.
void clock_begins_launch();
void clock_begins_block(Worker& worker);
void clock_barrier();
void clock_lanes_met(uint32_t first_thread, uint32_t lanes);
void clock_fence(Worker& worker, bool device);  // or for its own block only
void clock_atomic(Worker& worker, uintptr_t address);

// One access to one cell. `since`: what lies before is of an earlier block that had the memory. Returns the
// access it races with; null: none.
const Access* touch(Worker& worker, Cell& cell, bool write, bool atomic, uint32_t place, uint32_t since);
uint32_t block_began();

}  // namespace kfe::check
