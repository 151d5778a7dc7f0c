// A grid of panels cut into blocks that threads take one by one: as large as the caches allow, and such that
// all threads end at about the same time.
#pragma once

namespace kforge::smith {

struct GridLimits {
  long batch = 1;
  long row_panels = 1, column_panels = 1;  // of the whole result
  long most_rows = 1, most_columns = 1;    // panels of a block that the caches hold
  int threads = 1;
  bool rows_together = false;  // each block packs its columns: rows are cut only where columns cannot be
};
struct BlockGrid {
  long rows = 1, columns = 1;  // panels of a block; the last ones may be smaller
};

BlockGrid even_blocks(const GridLimits& limits);

// What the thread that ends last has done, in tiles: blocks are handed out in order, each to whoever is free.
double slowest_share(const GridLimits& limits, const BlockGrid& grid);

}  // namespace kforge::smith
