// What the operators that reduce share: which axes go and which stay, and a reduction over them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "smith/expr/arithmetic.h"
#include "smith/graph/lowering.h"

namespace kforge::smith {

// Which axes are reduced, and how positions of result and operand belong together.
struct Axes {
  std::vector<bool> reduced;
  Shape kept, gone;

  Axes(const Shape& shape, const std::vector<bool>& flags) : reduced(flags) {
    for (std::size_t d = 0; d < shape.size(); ++d) (reduced[d] ? gone : kept).push_back(shape[d]);
  }
  Position join(const Position& k, const Position& r) const {
    Position p;
    std::size_t i = 0, j = 0;
    for (const bool gone_here : reduced) p.push_back(gone_here ? r[j++] : k[i++]);
    return p;
  }
  Position keep(const Position& full) const {
    Position p;
    for (std::size_t d = 0; d < full.size(); ++d)
      if (!reduced[d]) p.push_back(full[d]);
    return p;
  }
  double count() const { return static_cast<double>(element_count(gone)); }
};
Axes one_axis(const Value& x, std::size_t axis);

Value reduce_value(Lowering& l, Combine combine, const Value& x, const Axes& axes,
                   const std::function<Expr(const Expr&, const Position& kept)>& body,
                   const std::string& hint);

// What names of intermediate tensors begin with: the node's first output.
const std::string& out_name(const Lowering& l);

}  // namespace kforge::smith
