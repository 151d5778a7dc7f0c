#include "smith/graph/reducing.h"

namespace kforge::smith {

Axes one_axis(const Value& x, std::size_t axis) {
  std::vector<bool> flags(x.rank());
  flags[axis] = true;
  return {x.shape, flags};
}

Value reduce_value(Lowering& l, Combine combine, const Value& x, const Axes& axes,
                   const std::function<Expr(const Expr&, const Position& kept)>& body,
                   const std::string& hint) {
  return l.reduce(
      combine, x.dtype, axes.kept, axes.gone,
      [&](const Position& k, const Position& r) { return body(x.at(axes.join(k, r)), k); }, hint);
}

const std::string& out_name(const Lowering& l) {
  static const std::string kNone = "value";
  for (const auto& name : l.node().outputs)
    if (!name.empty()) return name;
  return kNone;
}

}  // namespace kforge::smith
