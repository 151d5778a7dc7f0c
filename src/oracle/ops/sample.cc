// Reading pictures at positions that are data: GridSample and RoiAlign.
#include <algorithm>
#include <cmath>

#include "oracle/call.h"

namespace kforge {
namespace {

enum class Border { kZeros, kEdge, kReflect };

// A coordinate beyond the picture, mirrored back at its borders until it lies inside.
template <class F>
F reflected(F x, F low, F high) {
  const F range = high - low;
  if (range <= 0) return low;
  F distance = std::fmod(std::fabs(x - low), 2 * range);
  return low + (distance > range ? 2 * range - distance : distance);
}

template <class F>
class Picture {
 public:
  Picture(const F* pixels, std::int64_t height, std::int64_t width, Border border, bool align_corners)
      : pixels_(pixels), height_(height), width_(width), border_(border), align_(align_corners) {}

  F at(std::int64_t y, std::int64_t x) const {
    if (border_ == Border::kZeros)
      return y < 0 || x < 0 || y >= height_ || x >= width_ ? F(0) : pixels_[y * width_ + x];
    return pixels_[inside(y, height_) * width_ + inside(x, width_)];
  }

 private:
  std::int64_t inside(std::int64_t i, std::int64_t size) const {
    if (border_ == Border::kEdge) return std::clamp<std::int64_t>(i, 0, size - 1);
    const F low = align_ ? F(0) : F(-0.5),
            high = align_ ? static_cast<F>(size - 1) : static_cast<F>(size) - F(0.5);
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::nearbyint(reflected(static_cast<F>(i), low, high))), 0, size - 1);
  }

  const F* pixels_;
  std::int64_t height_, width_;
  Border border_;
  bool align_;
};

// Cubic convolution weights with a = -0.75 for the four neighbours of a fraction.
template <class F>
void cubic_weights(F t, F weights[4]) {
  const F a = F(-0.75);
  auto far = [&](F d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  auto near = [&](F d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  weights[0] = far(t + 1);
  weights[1] = near(t);
  weights[2] = near(1 - t);
  weights[3] = far(2 - t);
}

template <class F>
F sampled(const Picture<F>& picture, const std::string& mode, F y, F x) {
  if (mode == "nearest")
    return picture.at(static_cast<std::int64_t>(std::nearbyint(y)),
                      static_cast<std::int64_t>(std::nearbyint(x)));
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const F v = y - static_cast<F>(top), u = x - static_cast<F>(left);
  if (mode == "bilinear")
    return (1 - v) * ((1 - u) * picture.at(top, left) + u * picture.at(top, left + 1)) +
           v * ((1 - u) * picture.at(top + 1, left) + u * picture.at(top + 1, left + 1));
  F rows[4], columns[4], sum = 0;
  cubic_weights(v, rows);
  cubic_weights(u, columns);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum += rows[i] * columns[j] * picture.at(top - 1 + i, left - 1 + j);
  return sum;
}

}  // namespace

// Inputs: X [N][C][H][W], grid [N][h][w][2] of (x, y) in [-1, 1].
KF_ORACLE_OPERATOR(GridSample) {
  const Tensor<F>&x = call.in(0), &grid = call.in(1);
  if (x.rank() != 4 || grid.rank() != 4 || grid.dim(3) != 2 || grid.dim(0) != x.dim(0))
    refuse("a grid of shape {} for pictures of shape {}", to_string(grid.shape()), to_string(x.shape()));
  std::string mode = call.node.string_attr("mode", "bilinear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  if (mode != "bilinear" && mode != "bicubic" && mode != "nearest") refuse("mode \"{}\" is unknown", mode);
  const std::string padding = call.node.string_attr("padding_mode", "zeros");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    refuse("padding_mode \"{}\" is unknown", padding);
  const Border border = padding == "zeros"    ? Border::kZeros
                        : padding == "border" ? Border::kEdge
                                              : Border::kReflect;
  const bool align = call.int_attr("align_corners", 0) != 0;
  const std::int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3),
                     points = grid.dim(1) * grid.dim(2);
  Tensor<F> y(x.dtype(), {x.dim(0), channels, grid.dim(1), grid.dim(2)});
  if (y.size() > 0 && height * width == 0)
    refuse("pictures of shape {} have no pixels", to_string(x.shape()));
  auto position = [&](F g, std::int64_t size) {
    const F p = align ? (g + 1) / 2 * static_cast<F>(size - 1) : ((g + 1) * static_cast<F>(size) - 1) / 2;
    if (!(std::fabs(p) < F(1e9))) refuse("a position of the grid is {}", static_cast<double>(g));
    if (border == Border::kEdge) return std::clamp(p, F(0), static_cast<F>(size - 1));
    if (border == Border::kReflect)
      return reflected(p, align ? F(0) : F(-0.5),
                       align ? static_cast<F>(size - 1) : static_cast<F>(size) - F(0.5));
    return p;
  };
  const F *pixels = x.floats().data(), *where = grid.floats().data();
  F* to = y.new_floats().data();
  call.parallel(x.dim(0) * channels * points, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const F* point = where + (i / points / channels * points + i % points) * 2;
      const Picture<F> picture(pixels + i / points * height * width, height, width, border, align);
      to[i] = sampled(picture, mode, position(point[1], height), position(point[0], width));
    }
  });
  return {y};
}

// Inputs: X [N][C][H][W], rois [R][4] as x1 y1 x2 y2, the picture each belongs to.
KF_ORACLE_OPERATOR(RoiAlign) {
  const Tensor<F>&x = call.in(0), &rois = call.in(1), &batches = call.in(2);
  if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 4 || batches.size() != rois.dim(0))
    refuse("regions of shape {} for pictures of shape {}", to_string(rois.shape()), to_string(x.shape()));
  const std::int64_t out_h = call.int_attr("output_height", 1), out_w = call.int_attr("output_width", 1);
  const std::int64_t ratio = call.int_attr("sampling_ratio", 0);
  if (ratio < 0 || ratio > 4096) refuse("sampling_ratio is {}", ratio);
  const F scale = call.float_attr("spatial_scale", 1);
  const bool half_pixel =
      call.node.string_attr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool largest = call.node.string_attr("mode", "avg") == "max";
  const std::int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  Tensor<F> y(x.dtype(), {rois.dim(0), channels, out_h, out_w});
  if (y.size() == 0) return {y};
  if (height * width == 0) refuse("pictures of shape {} have no pixels", to_string(x.shape()));
  // The four weighted pixels around a sample; all zero outside of the picture.
  auto corners = [&](const F* plane, F py, F px, F products[4]) {
    std::fill_n(products, 4, F(0));
    if (py < -1 || py > static_cast<F>(height) || px < -1 || px > static_cast<F>(width)) return;
    auto split = [](F p, std::int64_t size, std::int64_t& low, std::int64_t& high) {
      p = std::max(p, F(0));
      low = static_cast<std::int64_t>(p);
      if (low >= size - 1) {
        low = high = size - 1;
        return F(0);
      }
      high = low + 1;
      return p - static_cast<F>(low);
    };
    std::int64_t y0, y1, x0, x1;
    const F v = split(py, height, y0, y1), u = split(px, width, x0, x1);
    products[0] = (1 - v) * (1 - u) * plane[y0 * width + x0];
    products[1] = (1 - v) * u * plane[y0 * width + x1];
    products[2] = v * (1 - u) * plane[y1 * width + x0];
    products[3] = v * u * plane[y1 * width + x1];
  };
  const F shift = half_pixel ? F(0.5) : F(0);
  for (std::int64_t r = 0; r < rois.dim(0); ++r) {
    const F* box = rois.floats().data() + r * 4;
    const F x1 = box[0] * scale - shift, y1 = box[1] * scale - shift;
    F box_w = box[2] * scale - shift - x1, box_h = box[3] * scale - shift - y1;
    if (!(std::fabs(box_w) < F(1e6)) || !(std::fabs(box_h) < F(1e6)) || !(std::fabs(x1) < F(1e9)) ||
        !(std::fabs(y1) < F(1e9)))
      refuse("region {} is too large", r);
    if (!half_pixel) {
      box_w = std::max(box_w, F(1));
      box_h = std::max(box_h, F(1));
    }
    const F bin_h = box_h / static_cast<F>(out_h), bin_w = box_w / static_cast<F>(out_w);
    const auto grid_h = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin_h));
    const auto grid_w = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin_w));
    const std::int64_t image = normal_index(batches.ints()[static_cast<std::size_t>(r)], x.dim(0));
    call.parallel(
        channels * out_h * out_w, 32 * std::max<std::int64_t>(1, grid_h * grid_w),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const F* plane = x.floats().data() + (image * channels + i / (out_h * out_w)) * height * width;
            const auto row = static_cast<F>(i / out_w % out_h), column = static_cast<F>(i % out_w);
            F sum = 0, best = 0;
            bool first = true;
            for (std::int64_t gy = 0; gy < grid_h; ++gy)
              for (std::int64_t gx = 0; gx < grid_w; ++gx) {
                F products[4];
                corners(plane,
                        y1 + row * bin_h + (static_cast<F>(gy) + F(0.5)) * bin_h / static_cast<F>(grid_h),
                        x1 + column * bin_w + (static_cast<F>(gx) + F(0.5)) * bin_w / static_cast<F>(grid_w),
                        products);
                for (F product : products) {
                  sum += product;
                  if (first || product > best) best = product;  // ONNX takes the largest weighted pixel
                  first = false;
                }
              }
            const F count = static_cast<F>(std::max<std::int64_t>(1, grid_h * grid_w));
            y.new_floats()[static_cast<std::size_t>(r * channels * out_h * out_w + i)] =
                largest ? best : sum / count;
          }
        });
  }
  return {y};
}

KF_ORACLE_INSTANTIATE(GridSample)
KF_ORACLE_INSTANTIATE(RoiAlign)

}  // namespace kforge
