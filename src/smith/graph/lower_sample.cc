// Operators whose reads depend on data in ways that no loop nest describes: sampling pictures at given
// points, determinants, undoing a pooling.
#include "smith/graph/native_code.h"
#include "smith/graph/window.h"

namespace kforge::smith {
namespace {

std::string type_of(const Value& v) { return v.dtype == DType::kFloat64 ? "double" : "float"; }

void grid_sample(Lowering& l) {
  const Value x = stored(l, l.input(0), "picture"), grid = stored(l, l.input(1), "grid");
  if (x.rank() != 4) throw Unsupported{"of pictures that are not planes"};
  const std::string mode = l.node().string_attr("mode", "bilinear"),
                    padding = l.node().string_attr("padding_mode", "zeros");
  const bool align = l.node().int_attr("align_corners", 0) != 0;
  const std::string_view sampling = mode == "nearest"                        ? "kNearest"
                                    : mode == "bilinear" || mode == "linear" ? "kLinear"
                                    : mode == "bicubic" || mode == "cubic"   ? "kCubic"
                                                                             : "";
  if (sampling.empty()) throw Unsupported{fmt::format("with mode \"{}\"", mode)};
  const std::string y = l.new_tensor(l.node().outputs[0], x.dtype, l.output_shape());
  NativeCode code;
  code.parallel = true;
  code.reads = {x.tensor, grid.tensor};
  code.writes = {y};
  code.headers = {"operators/grid_sample.h"};
  code.lines = fmt::format(
      "grid_sample<{}, Sampling::{}, Padding::{}, {}, {}, {}, {}, {}, {}>({{{}}}, {{{}}}, {{{}}});",
      type_of(x), sampling,
      padding == "border"       ? "kBorder"
      : padding == "reflection" ? "kReflection"
                                : "kZeros",
      align, x.shape[0], x.shape[1], x.shape[2], x.shape[3], grid.shape[1] * grid.shape[2], x.tensor,
      grid.tensor, y);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(y, l.output_shape()));
}

void roi_align(Lowering& l) {
  const Value x = stored(l, l.input(0), "picture"), boxes = stored(l, l.input(1), "boxes"),
              images = stored(l, l.input(2), "images");
  const std::int64_t ratio = l.node().int_attr("sampling_ratio", 0);
  const bool half = l.node().string_attr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool largest = l.node().string_attr("mode", "avg") == "max";
  const std::string y = l.new_tensor(l.node().outputs[0], x.dtype, l.output_shape());
  NativeCode code;
  code.parallel = true;
  code.reads = {x.tensor, boxes.tensor, images.tensor};
  code.writes = {y};
  code.headers = {"operators/roi_align.h"};
  code.lines = fmt::format(
      "roi_align<{}>({{.rois = {}, .images = {}, .channels = {}, .height = {}, .width = {}, .out_height = "
      "{}, "
      ".out_width = {}, .ratio = {}, .scale = {:.9g}, .shift = {}, .least_one = {}, .largest = {}}}, {{{}}}, "
      "{{{}}}, {{{}}}, {{{}}});",
      type_of(x), boxes.shape[0], x.shape[0], x.shape[1], x.shape[2], x.shape[3], l.output_shape()[2],
      l.output_shape()[3], ratio, l.node().float_attr("spatial_scale", 1), half ? 0.5 : 0.0, !half, largest,
      x.tensor, boxes.tensor, images.tensor, y);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(y, l.output_shape()));
}

void det(Lowering& l) {
  const Value a = l.materialize(l.input(0), "eliminated");  // worked on in place
  const std::string y = l.new_tensor(l.node().outputs[0], a.dtype, l.output_shape());
  NativeCode code;
  code.parallel = true;
  code.reads = {a.tensor};
  code.writes = {y, a.tensor};
  code.headers = {"operators/det.h"};
  code.lines = fmt::format("determinants<{}, {}, {}>({{{}}}, {{{}}});", type_of(a),
                           element_count(l.output_shape()), a.shape.back(), a.tensor, y);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, l.tensor_value(y, l.output_shape()));
}

// Zeros, then each element at the place its maximum came from. The indices count in the shape that the
// pooling saw; a larger result keeps the coordinates.
void max_unpool(Lowering& l) {
  const Value x = stored(l, l.input(0), "pooled"), indices = stored(l, l.input(1), "places");
  const auto kernel = l.node().ints_attr("kernel_shape");
  const Shape strides = spatial_attr(l.node(), "strides", kernel.size(), 1),
              pads = spatial_attr(l.node(), "pads", 2 * kernel.size(), 0);
  const Shape result = l.output_shape();
  Shape seen(x.shape.begin(), x.shape.begin() + 2);
  for (std::size_t d = 0; d < kernel.size(); ++d)
    seen.push_back((x.shape[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + kernel.size()]);
  const Type type = x.type();
  const Value y =
      l.materialize(Value{x.dtype, result, [type](const Position&) { return number(0, type); }, {}, 0},
                    l.node().outputs[0]);
  std::string place = "  long rest_ = {" + indices.tensor + "}[i_], at_ = 0;\n";
  std::int64_t stride = 1;
  for (std::size_t d = result.size(); d-- > 0; stride *= result[d])
    place += fmt::format("  at_ += rest_ % {0} * {1}, rest_ /= {0};\n", seen[d], stride);
  NativeCode code;
  code.reads = {x.tensor, indices.tensor, y.tensor};
  code.writes = {y.tensor};
  code.lines = fmt::format("for (long i_ = 0; i_ < {}; ++i_) {{\n{}  {{{}}}[at_] = {{{}}}[i_];\n}}",
                           element_count(x.shape), place, y.tensor, x.tensor);
  l.add_native_code(std::move(code), l.node().name);
  l.define(0, y);
}

// Slices that a condition keeps. Its values must be known: the result's shape depends on them.
void compress(Lowering& l) {
  const Value x = l.input(0);
  const auto condition = l.constant_ints(1).value();
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
  if (kept.empty()) throw Unsupported{"with nothing that is kept"};
  const auto count = static_cast<std::int64_t>(kept.size());
  const Value from = table_of(l, "kept", {count}, kept);
  const DType dtype = x.dtype;
  if (!l.node().has_attr("axis")) {
    l.define(0, Value{dtype,
                      {count},
                      [=](const Position& p) { return x.at(unflatten(from.at(p), x.shape)); },
                      {},
                      x.cost + 2});
    return;
  }
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), x.rank()));
  Shape shape = x.shape;
  shape[axis] = count;
  l.define(0, Value{dtype,
                    shape,
                    [=](const Position& p) {
                      Position at = p;
                      at[axis] = from.at({p[axis]});
                      return x.at(at);
                    },
                    {},
                    x.cost + 2});
}

}  // namespace

const LowerTable& sample_table() {
  static const LowerTable table = {
      {"GridSample", grid_sample}, {"RoiAlign", roi_align}, {"Det", det},
      {"MaxUnpool", max_unpool},   {"Compress", compress},
  };
  return table;
}

}  // namespace kforge::smith
