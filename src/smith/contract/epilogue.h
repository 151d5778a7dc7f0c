// What happens to the elements of a contraction's result before they are stored: the stage that reads them,
// where it reads each exactly where it writes, joins the contraction.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smith/contract/contraction.h"
#include "smith/graph/program.h"

namespace kforge::smith {

// Dimensions of the product's stage as positions over the variables batch, row and column.
struct IndexMap {
  Shape view;
  std::vector<Expr> dims;
  long columns = 1;
};
// kind of each dimension: 0 batch, 1 row, 2 column.
IndexMap index_map(const Shape& view, const std::vector<int>& kind, long batch, long rows, long columns);
// [image][group * filters + row][pixel of the plane]
IndexMap image_map(const Shape& view, long groups, long filters, long batch, long pixels);

struct Epilogue {
  std::optional<std::size_t> consumer;  // stage that was joined
  std::string tensor;                   // what is stored into
  Shape view;
  std::vector<Expr> position;  // over batch, row, column
  Expr value;                  // the sum is the load of tensor "sum_at" at column
  std::vector<std::string> reads;
  bool in_order = true;  // stored along columns
};
Epilogue find_epilogue(const Program& program, std::size_t product, const IndexMap& map);

// Statements for the emitter of contractions. Tensors are called by their name with an underscore behind it.
Finish finish_with(const Epilogue& epilogue, const Program& program,
                   std::shared_ptr<std::set<std::string>> used);

}  // namespace kforge::smith
