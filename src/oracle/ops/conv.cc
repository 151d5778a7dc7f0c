// Convolutions as matrix products: for each picture and group, rows of the weight matrix (one per output
// channel) times the matrix of patches, whose column j holds what the kernel sees at output position j. The
// patches are never stored; blocks of them are made when the product needs them.
#include "oracle/gemm.h"
#include "oracle/ops/conv_shape.h"
#include "oracle/ops/patches.h"
#include "oracle/window.h"

namespace kforge {
namespace {

// Few output channels per group (depthwise above all): products of long rows instead, channel by channel.
template <class F>
void convolve_rows(const Call<F>& call, const ConvShape& shape, const F* x, const F* w,
                   const std::vector<std::int64_t>& taps_of, F* y) {
  const Window& window = shape.window;
  const std::size_t rank = window.rank(), last = rank - 1;
  const std::int64_t width = window.output[last],
                     rows = window.output_count() / std::max<std::int64_t>(width, 1);
  const std::int64_t taps = window.kernel_count(), pixels = checked_count(window.input);
  const std::int64_t in_channels = shape.in_per_group, out_channels = shape.groups * shape.out_per_group;
  const std::int64_t stride = window.strides[last];
  call.parallel(
      shape.batch * out_channels * rows, width * in_channels * taps,
      [&](std::int64_t begin, std::int64_t end) {
        Shape corner(rank);
        for (std::int64_t item = begin; item < end; ++item) {
          F* out = y + item * width;
          const std::int64_t channel = item / rows % out_channels, batch = item / rows / out_channels;
          std::int64_t rest = item % rows;
          for (std::size_t d = last; d-- > 0;) {
            corner[d] = rest % window.output[d] * window.strides[d];
            rest /= window.output[d];
          }
          for (std::int64_t c = 0; c < in_channels; ++c) {
            const F* plane =
                x + (batch * shape.groups * in_channels + channel / shape.out_per_group * in_channels + c) *
                        pixels;
            for (std::int64_t t = 0; t < taps; ++t) {
              const std::int64_t* tap = taps_of.data() + t * static_cast<std::int64_t>(rank);
              const F factor = w[(channel * in_channels + c) * taps + t];
              std::int64_t at = 0;
              bool inside = true;
              for (std::size_t d = 0; inside && d < last; ++d) {
                const std::int64_t i = corner[d] + tap[d];
                inside = i >= 0 && i < window.input[d];
                at = at * window.input[d] + i;
              }
              if (!inside) continue;
              // Output positions whose input lies inside of the row: 0 <= j * stride + shift < input.
              const std::int64_t shift = tap[last], input = window.input[last];
              const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
              const std::int64_t after =
                  shift >= input ? 0 : std::min(width, (input - shift - 1) / stride + 1);
              const F* row = plane + at * input + shift;
              if (stride == 1)
                for (std::int64_t j = first; j < after; ++j) out[j] += factor * row[j];
              else
                for (std::int64_t j = first; j < after; ++j) out[j] += factor * row[j * stride];
            }
          }
        }
      });
}

}  // namespace

ConvShape::ConvShape(const Node& node, const Shape& x, const Shape& w)
    : window(node, x, w.size() > 2 ? Shape(w.begin() + 2, w.end()) : Shape()) {
  if (window.rank() > kMostSpatialDims) refuse("a convolution in {} dimensions", window.rank());
  if (w.size() != x.size()) refuse("data of shape {} and weights of shape {}", to_string(x), to_string(w));
  if (node.has_attr("kernel_shape") && node.ints_attr("kernel_shape") != window.kernel)
    refuse("kernel_shape {} for weights of shape {}", to_string(node.ints_attr("kernel_shape")),
           to_string(w));
  groups = node.int_attr("group", 1);
  batch = x[0];
  in_per_group = w[1];
  if (groups < 1 || w[0] % groups != 0 || in_per_group > x[1] || in_per_group * groups != x[1])
    refuse("data of shape {} and weights of shape {} in {} groups", to_string(x), to_string(w), groups);
  out_per_group = w[0] / groups;
  result = {batch, w[0]};
  result.insert(result.end(), window.output.begin(), window.output.end());
  checked_count(result);
}

std::vector<std::int64_t> tap_offsets(const Shape& kernel, const Shape& dilations, const Shape& pads) {
  std::vector<std::int64_t> offsets;
  const std::int64_t taps = checked_count(kernel);
  for (std::int64_t t = 0; t < taps; ++t) {
    std::int64_t rest = t;
    const std::size_t start = offsets.size();
    offsets.resize(start + kernel.size());
    for (std::size_t d = kernel.size(); d-- > 0;) {
      offsets[start + d] = rest % kernel[d] * dilations[d] - pads[d];
      rest /= kernel[d];
    }
  }
  return offsets;
}

template <class F>
Tensor<F> convolve(const Call<F>& call, const ConvShape& shape, const Tensor<F>& x, const Tensor<F>& w) {
  Tensor<F> y(x.dtype(), shape.result);
  if (y.size() == 0 || w.size() == 0) return y;
  const Window& window = shape.window;
  const std::int64_t taps = window.kernel_count(), pixels = checked_count(window.input);
  const auto offsets = tap_offsets(window.kernel, window.dilations, window.pads_begin);
  const F *picture = x.floats().data(), *weights = w.floats().data();
  if (shape.out_per_group < kTileRows) {
    convolve_rows(call, shape, picture, weights, offsets, y.new_floats().data());
    return y;
  }
  const GemmSize size{shape.out_per_group, window.output_count(), shape.in_per_group * taps};
  multiply_batches(
      call.threads, shape.batch * shape.groups, size,
      [&](std::int64_t n) {
        const F* rows = weights + n % shape.groups * size.rows * size.depth;
        const F* channels = picture + n * shape.in_per_group * pixels;
        return std::pair(
            PackMatrix<F>{{rows, 1, size.depth}},
            PackPatches<F>{window.input, window.output, window.strides, offsets, taps, channels, pixels});
      },
      y.new_floats().data());
  return y;
}
template Tensor<double> convolve(const Call<double>&, const ConvShape&, const Tensor<double>&,
                                 const Tensor<double>&);
template Tensor<float> convolve(const Call<float>&, const ConvShape&, const Tensor<float>&,
                                const Tensor<float>&);

template <class F>
void add_channel_bias(const Call<F>& call, const Tensor<F>& bias, Tensor<F>& y) {
  if (bias.rank() != 1 || bias.dim(0) != y.dim(1))
    refuse("a bias of shape {} for {} channels", to_string(bias.shape()), y.dim(1));
  const AxisView view(y.shape(), 1);
  F* to = y.new_floats().data();
  const F* add = bias.floats().data();
  call.parallel(view.outer * view.length, view.inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < view.inner; ++j) to[i * view.inner + j] += add[i % view.length];
  });
}
template void add_channel_bias(const Call<double>&, const Tensor<double>&, Tensor<double>&);
template void add_channel_bias(const Call<float>&, const Tensor<float>&, Tensor<float>&);

KF_ORACLE_OPERATOR(Conv) {
  const Tensor<F>&x = call.in(0), &w = call.in(1);
  Tensor<F> y = convolve(call, ConvShape(call.node, x.shape(), w.shape()), x, w);
  if (call.has(2)) add_channel_bias(call, call.in(2), y);
  return {y};
}

KF_ORACLE_INSTANTIATE(Conv)

}  // namespace kforge
