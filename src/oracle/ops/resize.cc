// Resize: every output position is mapped to a coordinate of the input, and read there by nearest neighbour,
// linear or cubic interpolation, one axis after the other.
#include <cmath>

#include "oracle/call.h"
#include "oracle/ops/operators.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

struct ResizeOptions {
  std::string mode, coordinates, nearest;
  double cubic_a;
  bool exclude_outside;
  double extrapolation;
};

// One axis: sizes and how far its positions are apart.
struct ResizeAxis {
  std::int64_t from, to;
  double scale;
  double roi_start = 0, roi_end = 1;
};

double source_coordinate(const ResizeOptions& options, const ResizeAxis& axis, std::int64_t position) {
  // ONNX's own values come from the resized length before it is rounded to whole elements.
  const auto x = static_cast<double>(position), from = static_cast<double>(axis.from), to = from * axis.scale;
  const std::string& how = options.coordinates;
  if (how == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  if (how == "pytorch_half_pixel") return axis.to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (how == "align_corners") return to != 1 ? x * (from - 1) / (to - 1) : 0;
  if (how == "asymmetric") return x / axis.scale;
  if (how == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how == "tf_crop_and_resize")
    return axis.to > 1
               ? axis.roi_start * (from - 1) + x * (axis.roi_end - axis.roi_start) * (from - 1) / (to - 1)
               : 0.5 * (axis.roi_start + axis.roi_end) * (from - 1);
  refuse("coordinate_transformation_mode \"{}\" is unknown", how);
}

std::int64_t nearest_index(const std::string& mode, double x) {
  if (mode == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (mode == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5));
  refuse("nearest_mode \"{}\" is unknown", mode);
}

// Keys' cubic kernel with the free parameter a.
double cubic_weight(double distance, double a) {
  const double d = std::fabs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

// What one output position reads: weighted input positions, or the extrapolation value.
struct Taps {
  std::vector<std::pair<std::int64_t, double>> weights;
  bool outside = false;
};

Taps taps_of(const ResizeOptions& options, const ResizeAxis& axis, std::int64_t position) {
  Taps taps;
  if (axis.from == axis.to && axis.scale == 1 && options.coordinates != "tf_crop_and_resize") {
    taps.weights = {{position, 1.0}};
    return taps;
  }
  double x = source_coordinate(options, axis, position);
  if (!(std::fabs(x) < 1e15)) refuse("a position of the input is {}", x);
  const auto last = static_cast<double>(axis.from - 1);
  if (options.coordinates == "tf_crop_and_resize" && (x < 0 || x > last)) taps.outside = true;
  auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, axis.from - 1); };
  if (options.mode == "nearest") {
    taps.weights = {{clamped(nearest_index(options.nearest, x)), 1.0}};
    return taps;
  }
  const bool cubic = options.mode == "cubic";
  const auto base = static_cast<std::int64_t>(std::floor(x));
  const double fraction = x - static_cast<double>(base);
  double sum = 0;
  for (std::int64_t k = cubic ? -1 : 0; k <= (cubic ? 2 : 1); ++k) {
    double weight = cubic ? cubic_weight(fraction - static_cast<double>(k), options.cubic_a)
                          : (k == 0 ? 1 - fraction : fraction);
    if (options.exclude_outside && (base + k < 0 || base + k >= axis.from)) weight = 0;
    taps.weights.emplace_back(clamped(base + k), weight);
    sum += weight;
  }
  if (options.exclude_outside && sum != 0)
    for (auto& [index, weight] : taps.weights) weight /= sum;
  return taps;
}

// Resizes along one axis.
template <class F>
Tensor<F> resize_axis(const Call<F>& call, const Tensor<F>& x, std::int64_t axis,
                      const ResizeOptions& options, const ResizeAxis& geometry) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = geometry.to;
  Tensor<F> y(x.dtype(), shape);
  const AxisView view(x.shape(), axis);
  if (y.size() == 0) return y;
  if (view.length == 0) refuse("an axis without elements is resized to {}", geometry.to);
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < geometry.to; ++i) taps.push_back(taps_of(options, geometry, i));
  auto read = [&](const auto& from, auto& to, const auto& interpolate) {
    call.parallel(view.outer * geometry.to, 4 * view.inner, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const Taps& tap = taps[static_cast<std::size_t>(r % geometry.to)];
        const std::int64_t base = r / geometry.to * view.length * view.inner;
        for (std::int64_t j = 0; j < view.inner; ++j)
          to[static_cast<std::size_t>(r * view.inner + j)] = interpolate(from.data() + base + j, tap);
      }
    });
  };
  if (x.has_floats()) {
    read(x.floats(), y.new_floats(), [&](const F* from, const Taps& tap) {
      if (tap.outside) return static_cast<F>(options.extrapolation);
      if (tap.weights.size() == 1) return from[tap.weights[0].first * view.inner];
      F sum = 0;
      for (const auto& [index, weight] : tap.weights)
        sum += static_cast<F>(weight) * from[index * view.inner];
      return sum;
    });
  } else {
    if (options.mode != "nearest") refuse_unsupported("integers are interpolated");
    read(x.ints(), y.new_ints(), [&](const std::int64_t* from, const Taps& tap) {
      return tap.outside ? int_from_float(options.extrapolation) : from[tap.weights[0].first * view.inner];
    });
  }
  return y;
}

}  // namespace

// Inputs: X, roi, scales, sizes.
KF_ORACLE_OPERATOR(Resize) {
  const Node& node = call.node;
  ResizeOptions options{node.string_attr("mode", "nearest"),
                        node.string_attr("coordinate_transformation_mode", "half_pixel"),
                        node.string_attr("nearest_mode", "round_prefer_floor"),
                        static_cast<double>(node.float_attr("cubic_coeff_a", -0.75f)),
                        node.int_attr("exclude_outside", 0) != 0,
                        static_cast<double>(node.float_attr("extrapolation_value", 0))};
  if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic")
    refuse("mode \"{}\" is unknown", options.mode);
  Tensor<F> x = call.in(0);
  const auto rank = static_cast<std::size_t>(x.rank());
  std::vector<double> scales, roi;
  std::vector<std::int64_t> sizes;
  if (call.has(1) && call.in(1).has_floats()) roi.assign(call.floats(1).begin(), call.floats(1).end());
  if (call.has(2)) scales.assign(call.floats(2).begin(), call.floats(2).end());
  if (call.has(3)) sizes = call.ints(3);
  if (sizes.empty() ? scales.size() != rank : sizes.size() != rank)
    refuse("{} scales and {} sizes for shape {}", scales.size(), sizes.size(), to_string(x.shape()));
  const bool has_roi = roi.size() == 2 * rank;
  if (options.coordinates == "tf_crop_and_resize" && !has_roi) refuse("tf_crop_and_resize without a region");
  Shape shape;
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < rank; ++d) {
    ResizeAxis axis{x.shape()[d], 0, 1};
    if (sizes.empty()) {
      const double to = std::floor(static_cast<double>(axis.from) * scales[d]);
      if (!(scales[d] > 0) || !(to < static_cast<double>(kMaxElements)))
        refuse("axis {} is scaled by {}", d, scales[d]);
      axis.to = static_cast<std::int64_t>(to);
      axis.scale = scales[d];
    } else {
      axis.to = sizes[d];
      axis.scale = static_cast<double>(axis.to) / static_cast<double>(axis.from);
    }
    if (has_roi) {
      axis.roi_start = roi[d];
      axis.roi_end = roi[d + rank];
    }
    shape.push_back(axis.to);
    axes.push_back(axis);
  }
  checked_count(shape);
  for (std::size_t d = 0; d < rank; ++d)
    x = resize_axis(call, x, static_cast<std::int64_t>(d), options, axes[d]);
  return {x};
}

// Resize as opsets 7 to 9 had it: scales are the second input (or an attribute), coordinates start at zero.
KF_ORACLE_OPERATOR(Upsample) {
  Node node = call.node;
  node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  node.attributes["nearest_mode"] = std::string("floor");
  const auto attribute = node.floats_attr("scales");
  const Tensor<F> given(DType::kFloat32, {static_cast<std::int64_t>(attribute.size())},
                        std::vector<F>(attribute.begin(), attribute.end()));
  return op_Resize(
      Call<F>{node, {&call.in(0), nullptr, call.has(1) ? &call.in(1) : &given}, call.threads, call.scope});
}

KF_ORACLE_INSTANTIATE(Resize)
KF_ORACLE_INSTANTIATE(Upsample)

}  // namespace kforge
