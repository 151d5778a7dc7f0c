// Sizes that follow from a contraction and its schedule, and what was chosen in words.
#pragma once

#include <string>

#include "smith/contract/contraction_code.h"
#include "smith/contract/panels.h"

namespace kforge::smith {

struct ContractionPlan {
  RowPanels rows;
  ColumnPanels columns;
  long column_panels = 1, block_row_panels = 1, block_column_panels = 1, row_blocks = 1, column_blocks = 1;
  long block_k = 1;          // steps of k that one pass over a block takes
  bool split_depth = false;  // k takes several passes: sums rest in memory between them
  // All columns of a block are done for one panel of rows before the next: for blocks whose part of b stays
  // in L1 and L2, so that each row of a is fetched once.
  bool rows_outer = false;
  long part_slices = 1;                     // passes in one of the schedule's splits of k
  long part_stride = 0, part_floats = 0;    // of one split's sums
  long a_items = 1, b_items = 1;            // batch items that have their own operand
  long a_floats = 0, b_floats = 0;          // packed panels of all of them, where packed as a whole
  long a_block = 0, b_block = 0, sums = 0;  // per thread
  long staged = 0;
  bool stage_private = false;

  long per_thread() const { return a_block + b_block + sums + (stage_private ? staged : 0); }
};
ContractionPlan plan_of(const Contraction& contraction, const ContractionSchedule& schedule,
                        const Staging* staging);

// What was chosen and why, for the reader of the emitted code.
std::string plan_comment(const Contraction& contraction, const ContractionSchedule& schedule,
                         const ContractionPlan& plan);

}  // namespace kforge::smith
