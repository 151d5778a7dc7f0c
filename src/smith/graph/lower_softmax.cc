// Softmax and its kin, and the losses made of it.
#include <optional>

#include "smith/graph/reducing.h"

namespace kforge::smith {
namespace {

// exp(x - largest). The difference is never above 0; saying so spares the exponential its care for large
// ones.
Expr exp_below(const Expr& x, const Expr& largest) {
  const Expr difference = sub(x, largest);
  return unary(Op::kExp, binary(Op::kMin, difference, num(0, difference)));
}

// log(sum(exp(x - largest))) along `axes`.
Value log_of_sum(Lowering& l, const Value& x, const Axes& axes, const Value& largest) {
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& v, const Position& k) { return exp_below(v, largest.at(k)); }, out_name(l) + "_sum");
  return l.materialize(
      Value{x.dtype, axes.kept, [=](const Position& k) { return unary(Op::kLog, sum.at(k)); }, {}, 16},
      out_name(l) + "_log");
}

void softmax(Lowering& l) {
  const Value input = l.input(0);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), input.rank()));
  const Axes axes = one_axis(input, axis);
  const Value x = l.reread(input, 2, out_name(l) + "_scores");
  const Value largest = reduce_value(
      l, Combine::kMax, x, axes, [](const Expr& e, const Position&) { return e; }, out_name(l) + "_largest");
  auto shifted = [=](const Position& p) { return sub(x.at(p), largest.at(axes.keep(p))); };
  if (l.node().op == "Softmax") {
    const Value e =
        l.materialize(Value{x.dtype,
                            x.shape,
                            [=](const Position& p) { return exp_below(x.at(p), largest.at(axes.keep(p))); },
                            {},
                            x.cost + 15},
                      out_name(l) + "_exp");
    const Value sum = reduce_value(
        l, Combine::kSum, e, axes, [](const Expr& v, const Position&) { return v; }, out_name(l) + "_sum");
    const Value scale =
        l.materialize(Value{x.dtype,
                            axes.kept,
                            [=](const Position& k) { return div(number(1, e.type()), sum.at(k)); },
                            {},
                            5},
                      out_name(l) + "_scale");
    return l.define_map([=](const Position& p) { return mul(e.at(p), scale.at(axes.keep(p))); }, 2);
  }
  const Value log_sum = log_of_sum(l, x, axes, largest);
  l.define_map([=](const Position& p) { return sub(shifted(p), log_sum.at(axes.keep(p))); }, x.cost + 2);
}

// 1 where an element is the first of the largest ones.
void hardmax(Lowering& l) {
  const Value x = l.reread(l.input(0), 2, out_name(l) + "_scores");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), x.rank()));
  const Axes axes = one_axis(x, axis);
  const Value largest = reduce_value(
      l, Combine::kMax, x, axes, [](const Expr& e, const Position&) { return e; }, out_name(l) + "_largest");
  const Value first = l.reduce(
      Combine::kMin, DType::kInt64, axes.kept, axes.gone,
      [&](const Position& k, const Position& r) {
        return select(binary(Op::kEqual, x.at(axes.join(k, r)), largest.at(k)), r[0], integer(x.shape[axis]));
      },
      out_name(l) + "_first");
  l.define_map(
      [=](const Position& p) {
        const Type type = x.type();
        return select(binary(Op::kEqual, first.at(axes.keep(p)), p[axis]), number(1, type), number(0, type));
      },
      3);
}

// -log p[label] * weight, its sum or its weighted mean.
void losses(Lowering& l, const Value& labels, const std::function<Expr(const Position&)>& negative_log,
            DType dtype, std::int64_t classes) {
  const std::string reduction = l.node().string_attr("reduction", "mean");
  const bool ignores = l.node().has_attr("ignore_index");
  const std::int64_t ignored = l.node().int_attr("ignore_index", 0);
  const std::optional<Value> weights = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  const Type type = type_for(dtype);
  (void)classes;
  auto guarded = [=](const Position& p, const Expr& value) {
    if (!ignores) return value;
    return guard(unary(Op::kNot, binary(Op::kEqual, labels.at(p), integer(ignored))), value, number(0, type));
  };
  auto weight = [=](const Position& p) { return weights ? weights->at({labels.at(p)}) : number(1, type); };
  auto loss = [=](const Position& p) { return guarded(p, mul(negative_log(p), weight(p))); };
  if (reduction == "none") return l.define(0, Value{dtype, labels.shape, loss, {}, 20});
  const Axes all(labels.shape, std::vector<bool>(labels.rank(), true));
  const Value sum = l.reduce(
      Combine::kSum, dtype, {}, all.gone, [&](const Position&, const Position& r) { return loss(r); },
      out_name(l) + "_total");
  if (reduction == "sum") return l.define(0, sum);
  if (!weights && !ignores) {
    const double count = static_cast<double>(element_count(labels.shape));
    return l.define_map(
        [=](const Position& p) {
          const Expr s = sum.at(p);
          return div(s, num(count, s));
        },
        3);
  }
  const Value total = l.reduce(
      Combine::kSum, dtype, {}, all.gone,
      [&](const Position&, const Position& r) { return guarded(r, weight(r)); }, out_name(l) + "_weights");
  l.define_map([=](const Position& p) { return div(sum.at(p), total.at(p)); }, 7);
}

void cross_entropy(Lowering& l) {
  const Value x = l.reread(l.input(0), 2, out_name(l) + "_scores");
  const Value labels = l.input(1);
  const Axes axes = one_axis(x, 1);
  const Value largest = reduce_value(
      l, Combine::kMax, x, axes, [](const Expr& e, const Position&) { return e; }, out_name(l) + "_largest");
  const Value log_sum = log_of_sum(l, x, axes, largest);
  auto negative_log = [=](const Position& k) {
    Position p = k;
    p.insert(p.begin() + 1, labels.at(k));
    return sub(log_sum.at(k), sub(x.at(p), largest.at(k)));
  };
  if (l.wants(1))
    l.define_map(
        [=](const Position& p) {
          return sub(sub(x.at(p), largest.at(axes.keep(p))), log_sum.at(axes.keep(p)));
        },
        4, 1);
  if (l.wants(0)) losses(l, labels, negative_log, x.dtype, x.shape[1]);
}

void likelihood_loss(Lowering& l) {
  const Value x = l.input(0), labels = l.input(1);
  losses(
      l, labels,
      [=](const Position& k) {
        Position p = k;
        p.insert(p.begin() + 1, labels.at(k));
        return unary(Op::kNeg, x.at(p));
      },
      x.dtype, x.shape[1]);
}

}  // namespace

const LowerTable& softmax_table() {
  static const LowerTable table = {
      {"Softmax", softmax},
      {"LogSoftmax", softmax},
      {"Hardmax", hardmax},
      {"SoftmaxCrossEntropyLoss", cross_entropy},
      {"NegativeLogLikelihoodLoss", likelihood_loss},
  };
  return table;
}

}  // namespace kforge::smith
