// Resize and its older form Upsample: along each axis an element is a weighted sum of a few neighbours. Which
// and how much depends on shapes only, so both are tables made now; the axes' weights multiply.
#include <algorithm>
#include <cmath>

#include "smith/graph/native_code.h"

namespace kforge::smith {
namespace {

struct ResizeRules {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false;
};

struct ResizeAxis {
  std::int64_t from = 1, to = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
};

// Where position `at` of the result lies in the data.
double source_of(const ResizeRules& rules, const ResizeAxis& axis, std::int64_t at) {
  const auto x = static_cast<double>(at), from = static_cast<double>(axis.from), to = from * axis.scale;
  const std::string& how = rules.coordinates;
  if (how == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (how == "pytorch_half_pixel") return axis.to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (how == "align_corners") return to != 1 ? x * (from - 1) / (to - 1) : 0;
  if (how == "asymmetric") return x / axis.scale;
  if (how == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how == "tf_crop_and_resize")
    return axis.to > 1
               ? axis.roi_start * (from - 1) + x * (axis.roi_end - axis.roi_start) * (from - 1) / (to - 1)
               : 0.5 * (axis.roi_start + axis.roi_end) * (from - 1);
  throw Unsupported{fmt::format("with coordinates \"{}\"", how)};
}

double nearest_of(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  throw Unsupported{fmt::format("with nearest_mode \"{}\"", mode)};
}

double cubic_weight(double distance, double a) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// The neighbours of every position along one axis, `taps` for each.
struct Neighbours {
  std::int64_t taps = 1;
  std::vector<std::int64_t> index;
  std::vector<double> weight, outside;  // outside: 1 where the position lies outside of the data
  bool moves = true;                    // false: every position is its own neighbour
};

Neighbours neighbours_of(const ResizeRules& rules, const ResizeAxis& axis) {
  Neighbours n;
  const bool crop = rules.coordinates == "tf_crop_and_resize";
  n.moves = axis.from != axis.to || axis.scale != 1 || crop;
  if (!n.moves) return n;
  const bool nearest = rules.mode == "nearest", cubic = rules.mode == "cubic";
  n.taps = nearest ? 1 : cubic ? 4 : 2;
  for (std::int64_t at = 0; at < axis.to; ++at) {
    const double x = source_of(rules, axis, at);
    if (!(std::fabs(x) < 1e15)) throw Unsupported{"to positions that are no numbers"};
    auto clamped = [&](double i) {
      return static_cast<std::int64_t>(std::clamp(i, 0.0, static_cast<double>(axis.from - 1)));
    };
    n.outside.push_back(crop && (x < 0 || x > static_cast<double>(axis.from - 1)) ? 1 : 0);
    if (nearest) {
      n.index.push_back(clamped(nearest_of(rules.nearest, x)));
      n.weight.push_back(1);
      continue;
    }
    const double base = std::floor(x), fraction = x - base;
    double sum = 0;
    const std::size_t first = n.weight.size();
    for (int k = cubic ? -1 : 0; k <= (cubic ? 2 : 1); ++k) {
      double weight = cubic ? cubic_weight(fraction - k, rules.cubic_a) : (k == 0 ? 1 - fraction : fraction);
      const double i = base + k;
      if (rules.exclude_outside && (i < 0 || i >= static_cast<double>(axis.from))) weight = 0;
      n.index.push_back(clamped(i));
      n.weight.push_back(weight);
      sum += weight;
    }
    if (rules.exclude_outside && sum != 0)
      for (std::size_t i = first; i < n.weight.size(); ++i) n.weight[i] /= sum;
  }
  return n;
}

struct AxisTables {
  std::size_t axis;
  std::int64_t taps;
  Value index, weight, outside;
};

void resize_by(Lowering& l, const ResizeRules& rules, const std::vector<ResizeAxis>& axes) {
  const Value x = l.input(0);
  std::vector<AxisTables> tables;
  Shape taps;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const Neighbours n = neighbours_of(rules, axes[d]);
    if (!n.moves) continue;
    tables.push_back({d, n.taps, table_of(l, "from", {axes[d].to, n.taps}, n.index),
                      table_of(l, "weight", {axes[d].to, n.taps}, n.weight),
                      table_of(l, "outside", {axes[d].to}, n.outside)});
    if (n.taps > 1) taps.push_back(n.taps);
  }
  const bool crop = rules.coordinates == "tf_crop_and_resize";
  // The element, or its part that belongs to one choice of neighbours.
  auto part = [=](const Position& p, const Position& r) {
    Position from = p;
    Expr weight;
    std::size_t next = 0;
    for (const AxisTables& t : tables) {
      const Expr tap = t.taps > 1 ? r[next++] : integer(0);
      from[t.axis] = t.index.at({p[t.axis], tap});
      if (t.taps == 1) continue;
      const Expr w = t.weight.at({p[t.axis], tap});
      weight = weight ? binary(Op::kMul, weight, w) : w;
    }
    const Expr value = x.at(from);
    return weight ? binary(Op::kMul, cast(weight, x.dtype), value) : value;
  };
  Value y{x.dtype, l.output_shape(), [=](const Position& p) { return part(p, {}); }, {}, x.cost + 4};
  if (!taps.empty()) {
    if (!is_float(x.dtype)) throw Unsupported{"of integers with interpolation"};
    y = l.reduce(Combine::kSum, x.dtype, l.output_shape(), taps, part, l.node().outputs[0]);
  }
  if (!crop) return l.define(0, y);
  l.define_map(
      [=](const Position& p) {
        Expr value = y.at(p);
        const Expr other = value->type == Type::kInt ? integer(static_cast<std::int64_t>(rules.extrapolation))
                                                     : number(rules.extrapolation, value->type);
        for (const AxisTables& t : tables)
          value = select(binary(Op::kLess, number(0.5), t.outside.at({p[t.axis]})), other, value);
        return value;
      },
      x.cost + 6);
}

void resize(Lowering& l) {
  const Node& node = l.node();
  ResizeRules rules{node.string_attr("mode", "nearest"),
                    node.string_attr("coordinate_transformation_mode", "half_pixel"),
                    node.string_attr("nearest_mode", "round_prefer_floor"),
                    static_cast<double>(node.float_attr("cubic_coeff_a", -0.75f)),
                    static_cast<double>(node.float_attr("extrapolation_value", 0)),
                    node.int_attr("exclude_outside", 0) != 0};
  const Shape from = l.input(0).shape, to = l.output_shape();
  std::vector<double> scales, roi;
  std::vector<std::int64_t> sizes;
  if (rules.coordinates == "tf_crop_and_resize") roi = l.constant_doubles(1).value_or(std::vector<double>{});
  if (l.has(2)) scales = l.constant_doubles(2).value();
  if (l.has(3)) sizes = l.constant_ints(3).value();
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < from.size(); ++d) {
    ResizeAxis axis{from[d], to[d]};
    axis.scale = sizes.empty() && scales.size() == from.size()
                     ? scales[d]
                     : static_cast<double>(to[d]) / static_cast<double>(from[d]);
    if (roi.size() == 2 * from.size()) {
      axis.roi_start = roi[d];
      axis.roi_end = roi[d + from.size()];
    }
    axes.push_back(axis);
  }
  resize_by(l, rules, axes);
}

void upsample(Lowering& l) {
  const Shape from = l.input(0).shape, to = l.output_shape();
  std::vector<double> scales;
  for (const float s : l.node().floats_attr("scales")) scales.push_back(static_cast<double>(s));
  if (l.has(1)) scales = l.constant_doubles(1).value();
  if (scales.size() != from.size()) throw Unsupported{"without a scale for every axis"};
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < from.size(); ++d) axes.push_back({from[d], to[d], scales[d]});
  resize_by(l, {l.node().string_attr("mode", "nearest"), "asymmetric", "floor"}, axes);
}

}  // namespace

const LowerTable& resize_table() {
  static const LowerTable table = {{"Resize", resize}, {"Upsample", upsample}};
  return table;
}

}  // namespace kforge::smith
