// Normalisations: a mean or a size over some axes, taken out of every element.
#include <optional>

#include "smith/graph/moments.h"

namespace kforge::smith {
namespace {

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

}  // namespace

const LowerTable& norm_table() {
  static const LowerTable table = {
      {"LayerNormalization", layer_norm},
      {"RMSNormalization", rms_norm},
      {"BatchNormalization", batch_norm},
      {"GroupNormalization", group_norm},
      {"InstanceNormalization", group_norm},
      {"LpNormalization", lp_norm},
      {"MeanVarianceNormalization", mean_variance_norm},
      {"LRN", local_response_norm},
  };
  return table;
}

}  // namespace kforge::smith
