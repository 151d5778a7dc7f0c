// The pieces of text every contraction kernel is made of: vector type, micro-kernel, packing, finishing.
#pragma once

#include <string>
#include <vector>

#include "smith/contract/contraction_schedule.h"

namespace kforge::smith {

// Rows are dealt out evenly: `panels` panels of `tall` or `tall - 1` rows, so that none is nearly empty.
struct RowPanels {
  long panels = 1;
  int tall = 1;  // rows of the first `tall_count` panels
  long tall_count = 1;
};
RowPanels deal_rows(long m, int most_rows);

// panel_row(panel), panel_rows(panel)
std::string row_panel_functions(const RowPanels& rows);

// How columns fall into panels of the tile's width: `per_run` in each run, the last `edge` columns wide.
struct ColumnPanels {
  long runs = 1, per_run = 1;
  long edge = 0;         // columns of the last panel of a run (1..tile_n)
  int edge_vectors = 1;  // vectors that cover them
};
ColumnPanels deal_columns(const Contraction& contraction, const ContractionSchedule& schedule);

// a_batch(i), a_side(i), a_depth(i) and strides, the same for b: offsets into the operands.
std::string operand_functions(const Contraction& contraction);
// x_item(batch), x_batch_of(item): batch index to packed item (broadcast operands have fewer), and back.
std::string item_functions(const Operand& operand, char which);

// typedefs Vec, load, store, stream, conversions: what the other pieces assume.
std::string vector_source(int lanes);
// multiply_tile<rows, vectors>(depth, a, b, first, c, c_stride) and multiply_any(rows, vectors, ...).
std::string micro_kernel_source(const Contraction& contraction, const ContractionSchedule& schedule);
// finish_tile(t, batch, row, column, sums, stride, rows, columns); any_width: columns may be any number.
std::string finish_source(const Contraction& contraction, const ContractionSchedule& schedule,
                          bool any_width = false);
// any_tile(rows, edge, t, batch, row, column, depth, a, b): both, where k is walked in one go.
std::string whole_tile_source(const Contraction& contraction, const ContractionSchedule& schedule);
// pack_a_panel(t, batch, panel, first_k, steps, out), the same for b; for operands that are packed.
std::string packing_source(const Contraction& contraction, const ContractionSchedule& schedule);
// "struct Tensors { ... };" and, inside functions, the names again as locals.
std::string tensors_struct(const std::vector<Tensor>& tensors);
std::string tensor_aliases(const std::vector<Tensor>& tensors, const std::string& text_that_uses_them,
                           const std::string& indent);

// run(t, prepared, scratch), which is work() with a team of its own, and the end of the namespace.
std::string end_of_code(const std::string& name);

// Lines of a text, each behind the indent; empty lines stay empty.
std::string indented(const std::string& text, const std::string& indent);

}  // namespace kforge::smith
