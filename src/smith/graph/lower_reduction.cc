// Reductions, normalisations, softmax, losses and running sums.
#include <cmath>
#include <limits>

#include "smith/graph/lowering.h"

namespace kforge::smith {
namespace {

Expr num(double v, const Expr& like) { return number(v, like->type); }
Expr add(const Expr& a, const Expr& b) { return binary(Op::kAdd, a, b); }
Expr sub(const Expr& a, const Expr& b) { return binary(Op::kSub, a, b); }
Expr mul(const Expr& a, const Expr& b) { return binary(Op::kMul, a, b); }
Expr div(const Expr& a, const Expr& b) { return binary(Op::kDiv, a, b); }
Expr square(const Expr& a) { return mul(a, a); }

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

Axes axes_of_node(Lowering& l, const Value& x, bool* nothing) {
  const auto list = l.has(1) ? l.constant_ints(1).value() : l.node().ints_attr("axes");
  const bool none = list.empty() && l.node().int_attr("noop_with_empty_axes", 0) != 0;
  std::vector<bool> flags(x.rank(), list.empty() && !none);
  for (std::int64_t axis : list) flags[static_cast<std::size_t>(normal_axis(axis, x.rank()))] = true;
  *nothing = none;
  return {x.shape, flags};
}
Axes one_axis(const Value& x, std::size_t axis) {
  std::vector<bool> flags(x.rank());
  flags[axis] = true;
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

void softmax(Lowering& l) {
  const Value input = l.input(0);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), input.rank()));
  const Axes axes = one_axis(input, axis);
  const Value x = l.reread(input, 2, out_name(l) + "_scores");
  const Value largest = reduce_value(
      l, Combine::kMax, x, axes, [](const Expr& e, const Position&) { return e; }, out_name(l) + "_largest");
  auto shifted = [=](const Position& p) { return sub(x.at(p), largest.at(axes.keep(p))); };
  if (l.node().op == "Softmax") {
    const Value e = l.materialize(Value{x.dtype,
                                        x.shape,
                                        [=](const Position& p) { return unary(Op::kExp, shifted(p)); },
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
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& v, const Position& k) { return unary(Op::kExp, sub(v, largest.at(k))); },
      out_name(l) + "_sum");
  const Value log_sum = l.materialize(
      Value{x.dtype, axes.kept, [=](const Position& k) { return unary(Op::kLog, sum.at(k)); }, {}, 16},
      out_name(l) + "_log");
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

// Mean and 1 / sqrt(variance + epsilon) over axes, in two passes, and y = (x - mean) * inverse.
struct Moments {
  Value mean, inverse, variance;
};
Moments moments(Lowering& l, const Value& x, const Axes& axes, double epsilon, const std::string& hint,
                double after_root = 0) {
  const double count = axes.count();
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes, [](const Expr& e, const Position&) { return e; }, hint + "_total");
  const Value centre = l.materialize(Value{x.dtype,
                                           axes.kept,
                                           [=](const Position& k) {
                                             const Expr s = sum.at(k);
                                             return div(s, num(count, s));
                                           },
                                           {},
                                           6},
                                     hint + "_centre");
  // The second pass also sums the distances: what rounding left in the mean, which a small variance would
  // blow up, is taken out again.
  const Value drift = reduce_value(
      l, Combine::kSum, x, axes, [&](const Expr& e, const Position& k) { return sub(e, centre.at(k)); },
      hint + "_drift");
  const Value squares = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& e, const Position& k) { return square(sub(e, centre.at(k))); }, hint + "_squares");
  auto off = [=](const Position& k) {
    const Expr d = drift.at(k);
    return div(d, num(count, d));
  };
  const Value mean = l.materialize(
      Value{x.dtype, axes.kept, [=](const Position& k) { return add(centre.at(k), off(k)); }, {}, 8},
      hint + "_mean");
  Value variance{x.dtype,
                 axes.kept,
                 [=](const Position& k) {
                   const Expr s = squares.at(k);
                   return binary(Op::kMax, sub(div(s, num(count, s)), square(off(k))), num(0, s));
                 },
                 {},
                 16};
  const Value inverse = l.materialize(Value{x.dtype,
                                            axes.kept,
                                            [=](const Position& k) {
                                              const Expr v = variance.at(k);
                                              const Expr root = unary(Op::kSqrt, add(v, num(epsilon, v)));
                                              return div(num(1, v), add(root, num(after_root, v)));
                                            },
                                            {},
                                            12},
                                      hint + "_inverse");
  return {mean, inverse, variance};
}

double epsilon_of(const Lowering& l) { return static_cast<double>(l.node().float_attr("epsilon", 1e-5f)); }

void layer_norm(Lowering& l) {
  const Value x = l.reread(l.input(0), 3, out_name(l) + "_input");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), x.rank()));
  std::vector<bool> flags(x.rank());
  for (std::size_t d = axis; d < x.rank(); ++d) flags[d] = true;
  const Axes axes(x.shape, flags);
  const Moments m = moments(l, x, axes, epsilon_of(l), out_name(l));
  const Value scale = l.input(1);
  const std::optional<Value> bias = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  l.define_map(
      [=](const Position& p) {
        const Position k = axes.keep(p);
        Expr y = mul(sub(x.at(p), m.mean.at(k)), m.inverse.at(k));
        y = mul(y, scale.at(broadcast(p, scale.shape)));
        return bias ? add(y, bias->at(broadcast(p, bias->shape))) : y;
      },
      x.cost + 6);
  if (l.wants(1)) l.define(1, l.tensor_value(m.mean.tensor, l.output_shape(1)));
  if (l.wants(2)) l.define(2, l.tensor_value(m.inverse.tensor, l.output_shape(2)));
}

void rms_norm(Lowering& l) {
  const Value x = l.reread(l.input(0), 2, out_name(l) + "_input");
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), x.rank()));
  std::vector<bool> flags(x.rank());
  for (std::size_t d = axis; d < x.rank(); ++d) flags[d] = true;
  const Axes axes(x.shape, flags);
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes, [](const Expr& e, const Position&) { return square(e); },
      out_name(l) + "_squares");
  const double epsilon = epsilon_of(l), count = axes.count();
  const Value inverse = l.materialize(
      Value{x.dtype,
            axes.kept,
            [=](const Position& k) {
              const Expr s = sum.at(k);
              return div(num(1, s), unary(Op::kSqrt, add(div(s, num(count, s)), num(epsilon, s))));
            },
            {},
            12},
      out_name(l) + "_inverse");
  const std::optional<Value> scale = l.has(1) ? std::optional(l.input(1)) : std::nullopt;
  l.define_map(
      [=](const Position& p) {
        const Expr y = mul(x.at(p), inverse.at(axes.keep(p)));
        return scale ? mul(y, scale->at(broadcast(p, scale->shape))) : y;
      },
      x.cost + 4);
}

void batch_norm(Lowering& l) {
  const Value scale = l.input(1), bias = l.input(2), running_mean = l.input(3), running_variance = l.input(4);
  const double epsilon = epsilon_of(l), momentum = static_cast<double>(l.node().float_attr("momentum", 0.9f));
  const bool training = l.node().int_attr("training_mode", 0) != 0;
  if (l.input(0).rank() < 2) throw Unsupported{"of a tensor without channels"};
  const Value x = training ? l.reread(l.input(0), 3, out_name(l) + "_input") : l.input(0);
  Value mean, inverse;
  if (training) {
    std::vector<bool> flags(x.rank(), true);
    flags[1] = false;
    const Axes axes(x.shape, flags);
    const Moments m = moments(l, x, axes, epsilon, out_name(l));
    mean = m.mean;
    inverse = m.inverse;
    auto update = [=](const Value& old, const Value& now) {
      return [=](const Position& k) {
        const Expr o = old.at(k);
        return add(mul(o, num(momentum, o)), mul(now.at(k), num(1 - momentum, o)));
      };
    };
    if (l.wants(1)) l.define_map(update(running_mean, m.mean), 6, 1);
    if (l.wants(2)) l.define_map(update(running_variance, m.variance), 6, 2);
  } else {
    mean = running_mean;
    inverse = l.materialize(Value{running_variance.dtype,
                                  running_variance.shape,
                                  [=](const Position& k) {
                                    const Expr v = running_variance.at(k);
                                    return div(num(1, v), unary(Op::kSqrt, add(v, num(epsilon, v))));
                                  },
                                  {},
                                  12},
                            out_name(l) + "_inverse");
  }
  const Value factor = l.materialize(Value{inverse.dtype,
                                           inverse.shape,
                                           [=](const Position& k) { return mul(inverse.at(k), scale.at(k)); },
                                           {},
                                           2},
                                     out_name(l) + "_factor");
  // Not folded into x * a + b: that cancels where the mean is large.
  l.define_map(
      [=](const Position& p) {
        const Position c{p[1]};
        return add(mul(sub(x.at(p), mean.at(c)), factor.at(c)), bias.at(c));
      },
      x.cost + 6);
}

// Channels in groups: [N, groups, channels of a group, pixels].
void group_norm(Lowering& l) {
  const Value input = l.input(0);
  if (input.rank() < 2) throw Unsupported{"of a tensor without channels"};
  const std::int64_t channels = input.shape[1];
  const std::int64_t groups =
      l.node().op == "InstanceNormalization" ? channels : l.node().int_attr("num_groups", 1);
  if (groups < 1 || channels % groups != 0) throw Unsupported{"channels that do not divide into groups"};
  const std::int64_t size = channels / groups,
                     pixels = element_count(input.shape) / (input.shape[0] * channels);
  const Shape grouped{input.shape[0], groups, size, pixels};
  const Value flat = l.reread(input, 3, out_name(l) + "_input");
  Value x = flat.tensor.empty() ? flat : l.tensor_value(flat.tensor, grouped);
  if (flat.tensor.empty()) {
    x.shape = grouped;
    x.at = [=](const Position& p) { return flat.at(unflatten(flat_position(grouped, p), flat.shape)); };
  }
  const Axes axes(grouped, {false, false, true, true});
  const Moments m = moments(l, x, axes, epsilon_of(l), out_name(l));
  const Value scale = l.input(1), bias = l.input(2);
  auto parameter = [=](const Value& v, const Position& p) {
    const std::int64_t n = element_count(v.shape);
    if (n == 1) return v.at({integer(0)});
    return v.at({n == groups && n != channels ? p[1] : plus(times(p[1], size), p[2])});
  };
  const Shape shape = input.shape;
  l.define_map(
      [=](const Position& full) {
        // Back into the groups: the consumer's own positions, its channel taken apart.
        Position p{full[0], digit(full[1], size, 0), digit(full[1], 1, size), integer(0)};
        Shape spatial(shape.begin() + 2, shape.end());
        p[3] = flat_position(spatial, Position(full.begin() + 2, full.end()));
        const Position k{p[0], p[1]};
        const Expr centred = sub(flat.at(full), m.mean.at(k));
        return add(mul(mul(centred, m.inverse.at(k)), parameter(scale, p)), parameter(bias, p));
      },
      flat.cost + 6);
}

void lp_norm(Lowering& l) {
  const Value x = l.reread(l.input(0), 2, out_name(l) + "_input");
  const std::int64_t p = l.node().int_attr("p", 2);
  const Axes axes =
      one_axis(x, static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), x.rank())));
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes,
      [=](const Expr& e, const Position&) { return p == 1 ? unary(Op::kAbs, e) : square(e); },
      out_name(l) + "_total");
  const Value norm =
      l.materialize(Value{x.dtype,
                          axes.kept,
                          [=](const Position& k) { return p == 1 ? sum.at(k) : unary(Op::kSqrt, sum.at(k)); },
                          {},
                          6},
                    out_name(l) + "_norm");
  l.define_map([=](const Position& full) { return div(x.at(full), norm.at(axes.keep(full))); }, x.cost + 6);
}

void mean_variance_norm(Lowering& l) {
  const Value x = l.reread(l.input(0), 3, out_name(l) + "_input");
  auto list = l.node().ints_attr("axes");
  if (list.empty()) list = {0, 2, 3};
  std::vector<bool> flags(x.rank());
  for (std::int64_t axis : list) flags[static_cast<std::size_t>(normal_axis(axis, x.rank()))] = true;
  const Axes axes(x.shape, flags);
  const Moments m = moments(l, x, axes, 0, out_name(l), 1e-9);
  l.define_map(
      [=](const Position& p) {
        return mul(sub(x.at(p), m.mean.at(axes.keep(p))), m.inverse.at(axes.keep(p)));
      },
      x.cost + 4);
}

void local_response_norm(Lowering& l) {
  const Value x = l.reread(l.input(0), 3, out_name(l) + "_input");
  const std::int64_t size = l.node().int_attr("size", 1), before = (size - 1) / 2, channels = x.shape[1];
  const double alpha = static_cast<double>(l.node().float_attr("alpha", 1e-4f)),
               beta = static_cast<double>(l.node().float_attr("beta", 0.75f)),
               bias = static_cast<double>(l.node().float_attr("bias", 1));
  const Value sum = l.reduce(
      Combine::kSum, x.dtype, x.shape, {size},
      [&](const Position& k, const Position& r) {
        Position p = k;
        p[1] = plus(plus(k[1], r[0]), -before);
        const Expr condition = inside(p[1], channels);
        const Expr v = x.at(p);
        return guard(condition, square(v), num(0, v));
      },
      out_name(l) + "_squares");
  l.define_map(
      [=](const Position& p) {
        const Expr s = sum.at(p);
        return div(x.at(p),
                   binary(Op::kPow, add(num(bias, s), mul(num(alpha / static_cast<double>(size), s), s)),
                          num(beta, s)));
      },
      80);
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
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& v, const Position& k) { return unary(Op::kExp, sub(v, largest.at(k))); },
      out_name(l) + "_sum");
  const Value log_sum = l.materialize(
      Value{x.dtype, axes.kept, [=](const Position& k) { return unary(Op::kLog, sum.at(k)); }, {}, 16},
      out_name(l) + "_log");
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
      {"ReduceSum", reduce_op},
      {"ReduceMean", reduce_op},
      {"ReduceProd", reduce_op},
      {"ReduceL1", reduce_op},
      {"ReduceL2", reduce_op},
      {"ReduceSumSquare", reduce_op},
      {"ReduceLogSum", reduce_op},
      {"ReduceMax", reduce_op},
      {"ReduceMin", reduce_op},
      {"ReduceLogSumExp", log_sum_exp},
      {"Softmax", softmax},
      {"LogSoftmax", softmax},
      {"Hardmax", hardmax},
      {"LayerNormalization", layer_norm},
      {"RMSNormalization", rms_norm},
      {"BatchNormalization", batch_norm},
      {"GroupNormalization", group_norm},
      {"InstanceNormalization", group_norm},
      {"LpNormalization", lp_norm},
      {"MeanVarianceNormalization", mean_variance_norm},
      {"LRN", local_response_norm},
      {"SoftmaxCrossEntropyLoss", cross_entropy},
      {"NegativeLogLikelihoodLoss", likelihood_loss},
      {"CumSum", running},
      {"CumProd", running},
      {"ArgMax", arg_extreme},
      {"ArgMin", arg_extreme},
  };
  return table;
}

}  // namespace kforge::smith
