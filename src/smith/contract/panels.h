// How rows and columns of a result fall into panels of the register tile's size.
#pragma once

#include "smith/contract/contraction_schedule.h"

namespace kforge::smith {

// Rows are shared out evenly: panels of `tall` or `tall - 1` rows, so that none is nearly empty.
struct RowPanels {
  long panels = 1;
  int tall = 1;  // rows of the first `tall_count` panels
  long tall_count = 1;
};
RowPanels row_panels(long m, int most_rows);

// Columns: `per_run` panels of the tile's width in each run, the last `edge` columns wide.
struct ColumnPanels {
  long runs = 1, per_run = 1;
  long edge = 0;  // columns of the last panel of a run (1..tile_n)
};
ColumnPanels column_panels(const Contraction& contraction, const ContractionSchedule& schedule);

}  // namespace kforge::smith
