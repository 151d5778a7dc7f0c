#include "smith/contract/panels.h"

#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

RowPanels row_panels(long m, int most_rows) {
  RowPanels rows;
  rows.panels = ceil_div(m, most_rows);
  rows.tall = static_cast<int>(ceil_div(m, rows.panels));
  rows.tall_count = m - rows.panels * (rows.tall - 1);
  return rows;
}

ColumnPanels column_panels(const Contraction& c, const ContractionSchedule& s) {
  ColumnPanels columns;
  // Packed panels take columns as they come, also from two runs.
  const long length = s.b == Packing::kInPlace ? c.run_length() : c.n;
  columns.runs = c.n / length;
  columns.per_run = ceil_div(length, s.tile_n());
  columns.edge = length - (columns.per_run - 1) * s.tile_n();
  return columns;
}

}  // namespace kforge::smith
