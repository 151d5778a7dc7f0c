// Reductions, the position of an extreme, and running sums.
#include <limits>

#include "smith/graph/reducing.h"

namespace kforge::smith {
namespace {

Axes axes_of_node(Lowering& l, const Value& x, bool* nothing) {
  const auto list = l.has(1) ? l.constant_ints(1).value() : l.node().ints_attr("axes");
  const bool none = list.empty() && l.node().int_attr("noop_with_empty_axes", 0) != 0;
  std::vector<bool> flags(x.rank(), list.empty() && !none);
  for (std::int64_t axis : list) flags[static_cast<std::size_t>(normal_axis(axis, x.rank()))] = true;
  *nothing = none;
  return {x.shape, flags};
}

// A reduced value as the node's output: the same elements, perhaps with axes of 1.
void define_reduced(Lowering& l, const Value& r, const std::function<Expr(const Expr&)>& finish, double cost,
                    std::size_t output = 0) {
  const Shape shape = l.output_shape(output);
  if (!finish && r.dtype == l.output_dtype(output)) return l.define(output, l.tensor_value(r.tensor, shape));
  l.define_map([=, view = l.tensor_value(r.tensor, shape)](
                   const Position& p) { return finish ? finish(view.at(p)) : view.at(p); },
               r.cost + cost, output);
}

void reduce_op(Lowering& l) {
  const Value x = l.input(0);
  bool nothing = false;
  const Axes axes = axes_of_node(l, x, &nothing);
  if (nothing) return l.define(0, x);
  const std::string& op = l.node().op;
  const double count = axes.count();
  auto as_is = [](const Expr& e, const Position&) { return e; };
  auto squares = [](const Expr& e, const Position&) { return square(e); };
  auto done = [&](Combine combine, auto body, std::function<Expr(const Expr&)> finish, double cost = 5) {
    define_reduced(l, reduce_value(l, combine, x, axes, body, out_name(l)), finish, cost);
  };
  const bool integers = x.type() == Type::kInt;
  if (op == "ReduceSum") return done(Combine::kSum, as_is, nullptr);
  if (op == "ReduceProd") return done(Combine::kProduct, as_is, nullptr);
  if (op == "ReduceMax") return done(Combine::kMax, as_is, nullptr);
  if (op == "ReduceMin") return done(Combine::kMin, as_is, nullptr);
  if (op == "ReduceSumSquare") return done(Combine::kSum, squares, nullptr);
  if (op == "ReduceL1")
    return done(
        Combine::kSum, [](const Expr& e, const Position&) { return unary(Op::kAbs, e); }, nullptr);
  if (integers && op != "ReduceMean") throw Unsupported{"of integers"};
  if (op == "ReduceMean" && x.type() == Type::kFloat && element_count(x.shape) <= (1 << 14)) {
    // So few that precision costs nothing: the mean of equal values is that value.
    const Value sum = l.reduce(
        Combine::kSum, DType::kFloat64, axes.kept, axes.gone,
        [&](const Position& k, const Position& r) { return cast(x.at(axes.join(k, r)), DType::kFloat64); },
        out_name(l) + "_total");
    const Shape shape = l.output_shape();
    return l.define_map(
        [=, view = l.tensor_value(sum.tensor, shape)](const Position& p) {
          const Expr s = view.at(p);
          return cast(div(s, num(count, s)), DType::kFloat32);
        },
        8);
  }
  if (op == "ReduceMean")
    return done(Combine::kSum, as_is, [=](const Expr& e) {
      return integers ? binary(Op::kDiv, e, integer(static_cast<std::int64_t>(count)))
                      : div(e, num(count, e));
    });
  if (op == "ReduceL2")
    return done(Combine::kSum, squares, [](const Expr& e) { return unary(Op::kSqrt, e); });
  return done(
      Combine::kSum, as_is, [](const Expr& e) { return unary(Op::kLog, e); }, 16);  // ReduceLogSum
}

// log(sum(exp(x - largest))) + largest, for a largest that is finite.
void log_sum_exp(Lowering& l) {
  const Value input = l.input(0);
  bool nothing = false;
  const Axes axes = axes_of_node(l, input, &nothing);
  if (nothing) return l.define(0, input);
  const Value x = l.reread(input, 2, out_name(l) + "_terms");
  const Value largest = reduce_value(
      l, Combine::kMax, x, axes, [](const Expr& e, const Position&) { return e; }, out_name(l) + "_largest");
  Value finite = largest;
  finite.tensor.clear();
  finite.at = [=](const Position& p) {
    const Expr m = largest.at(p);
    return select(binary(Op::kLess, unary(Op::kAbs, m), num(std::numeric_limits<double>::infinity(), m)), m,
                  num(0, m));
  };
  const Value shift = l.materialize(finite, out_name(l) + "_shift");
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& e, const Position& k) { return unary(Op::kExp, sub(e, shift.at(k))); },
      out_name(l) + "_sum");
  const Shape shape = l.output_shape();
  l.define_map([=, s = l.tensor_value(sum.tensor, shape), m = l.tensor_value(shift.tensor, shape)](
                   const Position& p) { return add(m.at(p), unary(Op::kLog, s.at(p))); },
               18);
}

void running(Lowering& l) {
  const Value x = l.input(0);
  const auto axis = static_cast<int>(normal_axis(l.constant_ints(1)->at(0), x.rank()));
  l.define(0, l.running(l.node().op == "CumSum" ? Combine::kSum : Combine::kProduct, x, axis,
                        l.node().int_attr("exclusive", 0) != 0, l.node().int_attr("reverse", 0) != 0));
}

// The position of the first (or last) of the largest elements: the largest, then where it is. NaN counts as
// larger than (ArgMin: smaller than) every number.
void arg_extreme(Lowering& l) {
  const bool largest = l.node().op == "ArgMax", last = l.node().int_attr("select_last_index", 0) != 0;
  const Value x = l.reread(l.input(0), 2, out_name(l) + "_values");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), x.rank()));
  const Axes axes = one_axis(x, axis);
  const Value best = reduce_value(
      l, largest ? Combine::kMax : Combine::kMin, x, axes, [](const Expr& e, const Position&) { return e; },
      out_name(l) + "_best");
  // Whole numbers below 2^24 are exact in float, and float has vectors of its own width.
  const bool as_float = x.type() == Type::kFloat && x.shape[axis] < (1 << 24);
  const DType dtype = as_float ? DType::kFloat32 : DType::kInt64;
  const std::int64_t none = last ? -1 : x.shape[axis];
  const Value found = l.reduce(
      last ? Combine::kMax : Combine::kMin, dtype, axes.kept, axes.gone,
      [&](const Position& k, const Position& r) {
        const Expr v = x.at(axes.join(k, r));
        Expr hit = binary(Op::kEqual, v, best.at(k));
        if (x.type() == Type::kFloat || x.type() == Type::kDouble)
          hit = binary(Op::kOr, hit, unary(Op::kIsNan, v));
        const Expr at = as_float ? cast(r[0], DType::kFloat32) : r[0];
        return select(hit, at, as_float ? number(static_cast<double>(none)) : integer(none));
      },
      out_name(l) + "_found");
  const Shape shape = l.output_shape();
  l.define_map([=, view = l.tensor_value(found.tensor, shape)](
                   const Position& p) { return cast(view.at(p), DType::kInt64); },
               2);
}

}  // namespace

const LowerTable& reduction_table() {
  static const LowerTable table = {
      {"ReduceSum", reduce_op},         {"ReduceMean", reduce_op}, {"ReduceProd", reduce_op},
      {"ReduceL1", reduce_op},          {"ReduceL2", reduce_op},   {"ReduceSumSquare", reduce_op},
      {"ReduceLogSum", reduce_op},      {"ReduceMax", reduce_op},  {"ReduceMin", reduce_op},
      {"ReduceLogSumExp", log_sum_exp}, {"CumSum", running},       {"CumProd", running},
      {"ArgMax", arg_extreme},          {"ArgMin", arg_extreme},
  };
  return table;
}

}  // namespace kforge::smith
