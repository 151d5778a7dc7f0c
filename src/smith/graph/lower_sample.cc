// Operators whose reads depend on data in ways that no loop nest describes: sampling pictures at given
// points, determinants, undoing a pooling. Handwritten lines, one result element (or matrix) per turn.
#include "smith/graph/handwriting.h"
#include "smith/graph/window.h"

namespace kforge::smith {
namespace {

std::string type_of(const Value& v) { return v.dtype == DType::kFloat64 ? "double" : "float"; }
std::string text(std::int64_t v) { return std::to_string(v); }

constexpr std::string_view kGridSample = R"(#pragma omp for schedule(static)
for (long i_ = 0; i_ < %N% * %C% * %POINTS%; ++i_) {
  const %T%* const point_ = {%GRID%} + (i_ / %POINTS% / %C% * %POINTS% + i_ % %POINTS%) * 2;
  const %T%* const plane_ = {%X%} + i_ / %POINTS% * %HEIGHT% * %WIDTH%;
  auto reflected_ = [](%T% x_, %T% low_, %T% high_) -> %T% {
    const %T% range_ = high_ - low_;
    if (range_ <= 0) return low_;
    const %T% far_ = std::fmod(std::fabs(x_ - low_), 2 * range_);
    return low_ + (far_ > range_ ? 2 * range_ - far_ : far_);
  };
  auto place_ = [&](%T% g_, long size_) -> %T% {
    const %T% p_ = %PLACE%;
    return %BORDERED%;
  };
  auto inside_ = [&](long at_, long size_) -> long {
    return %INSIDE%;
  };
  auto pixel_ = [&](long row_, long column_) -> %T% {
    %OUTSIDE%
    return plane_[inside_(row_, %HEIGHT%) * %WIDTH% + inside_(column_, %WIDTH%)];
  };
  const %T% y_ = place_(point_[1], %HEIGHT%), x_ = place_(point_[0], %WIDTH%);
  %SAMPLE%
})";

constexpr std::string_view kNearest =
    "{%Y%}[i_] = pixel_((long)std::nearbyint(y_), (long)std::nearbyint(x_));";
constexpr std::string_view kBilinear =
    R"(const long top_ = (long)std::floor(y_), left_ = (long)std::floor(x_);
  const %T% v_ = y_ - (%T%)top_, u_ = x_ - (%T%)left_;
  {%Y%}[i_] = (1 - v_) * ((1 - u_) * pixel_(top_, left_) + u_ * pixel_(top_, left_ + 1)) +
              v_ * ((1 - u_) * pixel_(top_ + 1, left_) + u_ * pixel_(top_ + 1, left_ + 1));)";
constexpr std::string_view kBicubic = R"(const long top_ = (long)std::floor(y_), left_ = (long)std::floor(x_);
  auto weight_ = [](%T% t_, int k_) -> %T% {
    const %T% a_ = -0.75, d_ = std::fabs(t_ + 1 - k_);
    return d_ <= 1 ? ((a_ + 2) * d_ - (a_ + 3)) * d_ * d_ + 1 : ((a_ * d_ - 5 * a_) * d_ + 8 * a_) * d_ - 4 * a_;
  };
  %T% sum_ = 0;
  for (int j_ = 0; j_ < 4; ++j_)
    for (int k_ = 0; k_ < 4; ++k_)
      sum_ += weight_(y_ - (%T%)top_, j_) * weight_(x_ - (%T%)left_, k_) * pixel_(top_ - 1 + j_, left_ - 1 + k_);
  {%Y%}[i_] = sum_;)";

void grid_sample(Lowering& l) {
  const Value x = stored(l, l.input(0), "picture"), grid = stored(l, l.input(1), "grid");
  if (x.rank() != 4) throw Unsupported{"of pictures that are not planes"};
  const std::string mode = l.node().string_attr("mode", "bilinear"),
                    padding = l.node().string_attr("padding_mode", "zeros");
  const bool align = l.node().int_attr("align_corners", 0) != 0, reflect = padding == "reflection",
             border = padding == "border";
  const std::string low = align ? "0" : "-0.5", high = align ? "(size_ - 1)" : "(size_ - %T%(0.5))";
  const std::string mirror = "reflected_(%ARG%, " + low + ", " + high + ")";
  const std::string_view sample = mode == "nearest"                        ? kNearest
                                  : mode == "bilinear" || mode == "linear" ? kBilinear
                                  : mode == "bicubic" || mode == "cubic"   ? kBicubic
                                                                           : std::string_view{};
  if (sample.empty()) throw Unsupported{fmt::format("with mode \"{}\"", mode)};
  const std::string y = l.new_tensor(l.node().outputs[0], x.dtype, l.output_shape());
  Handwritten code;
  code.parallel = true;
  code.reads = {x.tensor, grid.tensor};
  code.writes = {y};
  const std::string clamp = "at_ < 0 ? 0 : at_ >= size_ ? size_ - 1 : at_";
  const std::string clamp_real = "p_ < 0 ? 0 : p_ > size_ - 1 ? size_ - 1 : p_";
  std::string lines =
      filled(kGridSample,
             {{"SAMPLE", std::string(sample)},
              {"PLACE", align ? "(g_ + 1) / 2 * (size_ - 1)" : "((g_ + 1) * size_ - 1) / 2"},
              {"BORDERED", border    ? clamp_real
                           : reflect ? filled(mirror, {{"ARG", "p_"}})
                                     : "p_"},
              {"INSIDE", reflect ? "std::min(std::max((long)std::nearbyint(" +
                                       filled(mirror, {{"ARG", "(%T%)at_"}}) + "), 0L), size_ - 1)"
                                 : clamp},
              {"OUTSIDE",
               border || reflect
                   ? ""
                   : "if (row_ < 0 || column_ < 0 || row_ >= %HEIGHT% || column_ >= %WIDTH%) return 0;"}});
  code.lines = filled(lines, {{"T", type_of(x)},
                              {"N", text(x.shape[0])},
                              {"C", text(x.shape[1])},
                              {"HEIGHT", text(x.shape[2])},
                              {"WIDTH", text(x.shape[3])},
                              {"POINTS", text(grid.shape[1] * grid.shape[2])},
                              {"GRID", grid.tensor},
                              {"X", x.tensor},
                              {"Y", y}});
  l.handwrite(std::move(code), l.node().name);
  l.define(0, l.tensor_value(y, l.output_shape()));
}

constexpr std::string_view kRoiAlign = R"(#pragma omp for schedule(static)
for (long i_ = 0; i_ < %ROIS% * %C% * %OUT_H% * %OUT_W%; ++i_) {
  const long roi_ = i_ / (%C% * %OUT_H% * %OUT_W%);
  const long row_ = i_ / %OUT_W% % %OUT_H%, column_ = i_ % %OUT_W%;
  const %T%* const box_ = {%BOXES%} + roi_ * 4;
  const %T% x1_ = box_[0] * %SCALE% - %SHIFT%, y1_ = box_[1] * %SCALE% - %SHIFT%;
  %T% width_ = box_[2] * %SCALE% - %SHIFT% - x1_, height_ = box_[3] * %SCALE% - %SHIFT% - y1_;
  %LEAST%
  const %T% bin_h_ = height_ / %OUT_H%, bin_w_ = width_ / %OUT_W%;
  const long grid_h_ = %GRID_H%, grid_w_ = %GRID_W%;
  long image_ = {%IMAGES%}[roi_];
  if (image_ < 0) image_ += %N%;
  const %T%* const plane_ = {%X%} + (image_ * %C% + i_ / (%OUT_H% * %OUT_W%) % %C%) * %HEIGHT% * %WIDTH%;
  %T% sum_ = 0, best_ = 0;
  bool first_ = true;
  for (long gy_ = 0; gy_ < grid_h_; ++gy_)
    for (long gx_ = 0; gx_ < grid_w_; ++gx_) {
      const %T% py_ = y1_ + row_ * bin_h_ + (gy_ + %T%(0.5)) * bin_h_ / grid_h_;
      const %T% px_ = x1_ + column_ * bin_w_ + (gx_ + %T%(0.5)) * bin_w_ / grid_w_;
      %T% corner_[4] = {0, 0, 0, 0};
      if (!(py_ < -1 || py_ > %HEIGHT% || px_ < -1 || px_ > %WIDTH%)) {
        auto split_ = [](%T% p_, long size_, long& low_, long& high_) -> %T% {
          p_ = p_ < 0 ? 0 : p_;
          low_ = (long)p_;
          if (low_ >= size_ - 1) { low_ = high_ = size_ - 1; return 0; }
          high_ = low_ + 1;
          return p_ - (%T%)low_;
        };
        long y0_, y2_, x0_, x2_;
        const %T% v_ = split_(py_, %HEIGHT%, y0_, y2_), u_ = split_(px_, %WIDTH%, x0_, x2_);
        corner_[0] = (1 - v_) * (1 - u_) * plane_[y0_ * %WIDTH% + x0_];
        corner_[1] = (1 - v_) * u_ * plane_[y0_ * %WIDTH% + x2_];
        corner_[2] = v_ * (1 - u_) * plane_[y2_ * %WIDTH% + x0_];
        corner_[3] = v_ * u_ * plane_[y2_ * %WIDTH% + x2_];
      }
      for (const %T% product_ : corner_) {
        sum_ += product_;
        if (first_ || product_ > best_) best_ = product_;
        first_ = false;
      }
    }
  {%Y%}[i_] = %RESULT%;
})";

void roi_align(Lowering& l) {
  const Value x = stored(l, l.input(0), "picture"), boxes = stored(l, l.input(1), "boxes"),
              images = stored(l, l.input(2), "images");
  const std::int64_t ratio = l.node().int_attr("sampling_ratio", 0);
  const bool half = l.node().string_attr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool largest = l.node().string_attr("mode", "avg") == "max";
  const std::string y = l.new_tensor(l.node().outputs[0], x.dtype, l.output_shape());
  Handwritten code;
  code.parallel = true;
  code.reads = {x.tensor, boxes.tensor, images.tensor};
  code.writes = {y};
  auto grid = [&](const char* bin) {
    return ratio > 0 ? text(ratio) : fmt::format("(long)std::ceil({})", bin);
  };
  code.lines = filled(
      filled(kRoiAlign,
             {{"LEAST", half ? "" : "width_ = width_ < 1 ? 1 : width_, height_ = height_ < 1 ? 1 : height_;"},
              {"RESULT", largest ? "best_" : "sum_ / (grid_h_ * grid_w_ > 1 ? grid_h_ * grid_w_ : 1)"}}),
      {{"T", type_of(x)},
       {"ROIS", text(boxes.shape[0])},
       {"N", text(x.shape[0])},
       {"C", text(x.shape[1])},
       {"HEIGHT", text(x.shape[2])},
       {"WIDTH", text(x.shape[3])},
       {"OUT_H", text(l.output_shape()[2])},
       {"OUT_W", text(l.output_shape()[3])},
       {"SCALE", fmt::format("{}({:.9g})", type_of(x), l.node().float_attr("spatial_scale", 1))},
       {"SHIFT", fmt::format("{}({})", type_of(x), half ? "0.5" : "0")},
       {"GRID_H", grid("bin_h_")},
       {"GRID_W", grid("bin_w_")},
       {"BOXES", boxes.tensor},
       {"IMAGES", images.tensor},
       {"X", x.tensor},
       {"Y", y}});
  l.handwrite(std::move(code), l.node().name);
  l.define(0, l.tensor_value(y, l.output_shape()));
}

// Elimination with the largest pivot of each column.
constexpr std::string_view kDet = R"(#pragma omp for schedule(static)
for (long m_ = 0; m_ < %COUNT%; ++m_) {
  %T%* const a_ = {%A%} + m_ * %N% * %N%;
  %T% det_ = 1;
  for (long k_ = 0; k_ < %N% && det_ != 0; ++k_) {
    long pivot_ = k_;
    for (long row_ = k_ + 1; row_ < %N%; ++row_)
      if (std::fabs(a_[row_ * %N% + k_]) > std::fabs(a_[pivot_ * %N% + k_])) pivot_ = row_;
    if (pivot_ != k_) {
      for (long c_ = 0; c_ < %N%; ++c_) std::swap(a_[pivot_ * %N% + c_], a_[k_ * %N% + c_]);
      det_ = -det_;
    }
    det_ *= a_[k_ * %N% + k_];
    for (long row_ = k_ + 1; row_ < %N% && det_ != 0; ++row_) {
      const %T% factor_ = a_[row_ * %N% + k_] / a_[k_ * %N% + k_];
      for (long c_ = k_; c_ < %N%; ++c_) a_[row_ * %N% + c_] -= factor_ * a_[k_ * %N% + c_];
    }
  }
  {%Y%}[m_] = det_;
})";

void det(Lowering& l) {
  const Value a = l.materialize(l.input(0), "eliminated");  // worked on in place
  const std::string y = l.new_tensor(l.node().outputs[0], a.dtype, l.output_shape());
  Handwritten code;
  code.parallel = true;
  code.reads = {a.tensor};
  code.writes = {y, a.tensor};
  code.lines = filled(kDet, {{"T", type_of(a)},
                             {"COUNT", text(element_count(l.output_shape()))},
                             {"N", text(a.shape.back())},
                             {"A", a.tensor},
                             {"Y", y}});
  l.handwrite(std::move(code), l.node().name);
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
  Handwritten code;
  code.reads = {x.tensor, indices.tensor, y.tensor};
  code.writes = {y.tensor};
  code.lines = fmt::format("for (long i_ = 0; i_ < {}; ++i_) {{\n{}  {{{}}}[at_] = {{{}}}[i_];\n}}",
                           element_count(x.shape), place, y.tensor, x.tensor);
  l.handwrite(std::move(code), l.node().name);
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
