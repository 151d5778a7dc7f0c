#include "smith/contract/tile_cost.h"

#include <algorithm>

#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

double tile_cycles(long rows, long vectors) {
  return std::max({static_cast<double>(rows * vectors) / 2, static_cast<double>(rows + vectors) / 2, 4.0});
}

double tile_cost(int rows, int vectors, int lanes, long run) {
  const long needed = ceil_div(run, lanes), whole = needed / vectors, edge = needed % vectors;
  return (static_cast<double>(whole) * tile_cycles(rows, vectors) +
          (edge > 0 ? tile_cycles(rows, edge) : 0)) /
         rows;
}

double image_packing_cost(int lanes, long rows) { return 3.0 / static_cast<double>(lanes * rows); }
double in_place_factor(bool scattered) { return scattered ? 1.15 : 1.03; }

}  // namespace kforge::smith
