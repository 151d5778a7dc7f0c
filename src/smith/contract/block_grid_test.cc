#include "smith/contract/block_grid.h"

#include <gtest/gtest.h>

#include "smith/expr/whole_numbers.h"

namespace kforge::smith {
namespace {

TEST(BlockGrid, BlocksOfOneThreadAreAsLargeAsTheCachesAllow) {
  const BlockGrid grid =
      even_blocks({.row_panels = 40, .column_panels = 64, .most_rows = 10, .most_columns = 16});
  EXPECT_EQ(grid.rows, 10);
  EXPECT_EQ(grid.columns, 16);
}

// 32 panels of columns in blocks of 6 were five large blocks and a small one: 18 panels for one of two
// threads, 14 for the other.
TEST(BlockGrid, ThreadsEndTogether) {
  const GridLimits limits{.row_panels = 43,
                          .column_panels = 32,
                          .most_rows = 43,
                          .most_columns = 7,
                          .threads = 2,
                          .rows_together = true};
  const BlockGrid grid = even_blocks(limits);
  EXPECT_EQ(grid.rows, 43);
  EXPECT_EQ(ceil_div(32, grid.columns) % 2, 0);
  EXPECT_LT(slowest_share(limits, grid), 1.08 * 43 * 16);
  EXPECT_GT(slowest_share(limits, {43, 6}), 1.12 * 43 * 16);
}

TEST(BlockGrid, EveryShapeIsCoveredAndEven) {
  for (const int threads : {1, 2, 3, 8, 64})
    for (const long rows : {1, 2, 7, 43, 171})
      for (const long columns : {1, 3, 32, 65}) {
        const GridLimits limits{.batch = rows == 7 ? 5 : 1,
                                .row_panels = rows,
                                .column_panels = columns,
                                .most_rows = rows < 20 ? rows : 20,
                                .most_columns = columns < 12 ? columns : 12,
                                .threads = threads};
        const BlockGrid grid = even_blocks(limits);
        SCOPED_TRACE(testing::Message() << threads << " threads, " << rows << " x " << columns);
        EXPECT_GE(grid.rows, 1);
        EXPECT_LE(grid.rows, limits.most_rows);
        EXPECT_GE(grid.columns, 1);
        EXPECT_LE(grid.columns, limits.most_columns);
        EXPECT_LE(slowest_share(limits, grid),
                  slowest_share(limits, {limits.most_rows, limits.most_columns}));
      }
}

}  // namespace
}  // namespace kforge::smith
