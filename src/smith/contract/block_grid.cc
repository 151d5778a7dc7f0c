#include "smith/contract/block_grid.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

// What a block takes beyond its tiles, in tiles: panels of rows come from a farther cache when the first
// columns meet them (measured: a fifth to a half of a tile each), panels of columns are fetched or packed.
constexpr double kRowPanelCost = 0.3, kColumnPanelCost = 0.1;
// Handing out more blocks than this per thread leaves nothing to even out.
constexpr long kManyBlocks = 8;

double cost_of(long rows, long columns) {
  const auto r = static_cast<double>(rows), c = static_cast<double>(columns);
  return r * c + kRowPanelCost * r + kColumnPanelCost * c;
}

// Sizes of a block, the largest first, that cut `panels` into blocks of about equal size: none above `most`,
// and none of so many blocks that further ones could even out nothing.
std::vector<long> even_sizes(long panels, long most, int threads) {
  std::vector<long> sizes;
  const long fewest = ceil_div(panels, most), blocks = std::min(panels, fewest + 4L * threads);
  for (long count = fewest; count <= blocks; ++count)
    if (const long size = ceil_div(panels, count); sizes.empty() || sizes.back() != size)
      sizes.push_back(size);
  return sizes;
}

}  // namespace

double slowest_share(const GridLimits& l, const BlockGrid& grid) {
  const long row_blocks = ceil_div(l.row_panels, grid.rows),
             column_blocks = ceil_div(l.column_panels, grid.columns);
  const auto block_cost = [&](long row, long column) {
    return cost_of(std::min(grid.rows, l.row_panels - row * grid.rows),
                   std::min(grid.columns, l.column_panels - column * grid.columns));
  };
  if (l.batch * row_blocks * column_blocks > kManyBlocks * l.threads) {
    // All of a row (or column) of blocks are alike but the last.
    double all = 0;
    for (const bool last_row : {false, true})
      for (const bool last_column : {false, true})
        all += block_cost(last_row ? row_blocks - 1 : 0, last_column ? column_blocks - 1 : 0) *
               static_cast<double>((last_row ? 1 : row_blocks - 1) * (last_column ? 1 : column_blocks - 1));
    return static_cast<double>(l.batch) * all / l.threads + block_cost(0, 0) / 2 * (1 - 1.0 / l.threads);
  }
  std::vector<double> busy(static_cast<std::size_t>(l.threads));  // a heap, the idlest thread first
  double latest = 0;
  for (long batch = 0; batch < l.batch; ++batch)
    for (long column = 0; column < column_blocks; ++column)
      for (long row = 0; row < row_blocks; ++row) {
        std::ranges::pop_heap(busy, std::greater());
        busy.back() += block_cost(row, column);
        latest = std::max(latest, busy.back());
        std::ranges::push_heap(busy, std::greater());
      }
  return latest;
}

BlockGrid even_blocks(const GridLimits& l) {
  BlockGrid best{l.most_rows, l.most_columns};
  double least = slowest_share(l, best);
  for (const long rows : even_sizes(l.row_panels, l.most_rows, l.threads))
    for (const long columns : even_sizes(l.column_panels, l.most_columns, l.threads)) {
      if (l.rows_together && rows < l.most_rows && columns > 1) continue;
      const double share = slowest_share(l, {rows, columns});
      if (share < 0.999 * least) least = share, best = {rows, columns};
    }
  return best;
}

}  // namespace kforge::smith
