// Transposed convolutions. Output positions o with the same o mod stride see the same part of the kernel, and
// among them the operator is an ordinary convolution of stride 1. So it is computed as stride[0] * stride[1]
// * ... convolutions, each of a part of the kernel, whose results are interleaved: no multiplication by
// inserted zeros.
#include "oracle/gemm.h"
#include "oracle/ops/conv_shape.h"
#include "oracle/ops/patches.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

struct TransposeShape {
  std::int64_t batch = 0, groups = 1, in_per_group = 0, out_per_group = 0;
  Shape input, kernel, output, strides, dilations, pads_begin, result;

  TransposeShape(const Node& node, const Shape& x, const Shape& w) {
    if (x.size() < 3 || w.size() != x.size())
      refuse("data of shape {} and weights of shape {}", to_string(x), to_string(w));
    const std::size_t rank = x.size() - 2;
    if (rank > kMostSpatialDims) refuse("a convolution in {} dimensions", rank);
    groups = node.int_attr("group", 1);
    batch = x[0];
    if (groups < 1 || w[0] != x[1] || x[1] % groups != 0)
      refuse("data of shape {} and weights of shape {} in {} groups", to_string(x), to_string(w), groups);
    in_per_group = x[1] / groups;
    out_per_group = w[1];
    input.assign(x.begin() + 2, x.end());
    kernel.assign(w.begin() + 2, w.end());
    if (node.has_attr("kernel_shape") && node.ints_attr("kernel_shape") != kernel)
      refuse("kernel_shape {} for weights of shape {}", to_string(node.ints_attr("kernel_shape")),
             to_string(w));
    strides = spatial_attr(node, "strides", rank, 1, 1);
    dilations = spatial_attr(node, "dilations", rank, 1, 1);
    set_output(node, rank);
    std::int64_t channels;
    if (__builtin_mul_overflow(groups, out_per_group, &channels))
      refuse("{} groups of {} channels", groups, out_per_group);
    result = {batch, channels};
    result.insert(result.end(), output.begin(), output.end());
    checked_count(result);
  }

 private:
  // The full extent, less the pads; or an output shape from which the pads follow.
  void set_output(const Node& node, std::size_t rank) {
    const Shape pads = spatial_attr(node, "pads", 2 * rank, 0, 0),
                extra = spatial_attr(node, "output_padding", rank, 0, 0);
    const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
    const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    Shape wanted = node.ints_attr("output_shape");
    if (wanted.size() == rank + 2)
      wanted.erase(wanted.begin(), wanted.begin() + 2);  // some files name N and C too
    if (!wanted.empty() && wanted.size() != rank)
      refuse("output_shape has {} entries instead of {}", wanted.size(), rank);
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t full = strides[d] * (input[d] - 1) + extra[d] + (kernel[d] - 1) * dilations[d] + 1;
      if (wanted.empty() && !same) {
        output.push_back(full - pads[d] - pads[d + rank]);
        pads_begin.push_back(pads[d]);
      } else {
        output.push_back(wanted.empty() ? input[d] * strides[d] : wanted[d]);
        const std::int64_t total = std::max<std::int64_t>(0, full - output[d]);
        pads_begin.push_back(auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2);
      }
    }
  }
};

// One phase: outputs begin, begin + stride, ... of each dimension, and the kernel positions they see.
struct Phase {
  Shape begin, count;
  std::vector<std::int64_t> taps;     // positions in the kernel
  std::vector<std::int64_t> offsets;  // [tap][dimension]: input position for the phase's first output
};

// Phases that have outputs at all; there may be fewer than strides say.
Shape phase_counts(const TransposeShape& shape) {
  Shape counts;
  for (std::size_t d = 0; d < shape.strides.size(); ++d)
    counts.push_back(std::min(shape.strides[d], shape.output[d]));
  return counts;
}

Phase make_phase(const TransposeShape& shape, std::int64_t index) {
  Phase phase;
  const std::size_t rank = shape.input.size();
  const Shape counts = phase_counts(shape);
  phase.begin.resize(rank);
  for (std::size_t d = rank; d-- > 0; index /= counts[d]) phase.begin[d] = index % counts[d];
  for (std::size_t d = 0; d < rank; ++d)
    phase.count.push_back((shape.output[d] - phase.begin[d] - 1) / shape.strides[d] + 1);
  const auto distances = tap_offsets(shape.kernel, shape.dilations, Shape(rank));
  const std::int64_t taps = checked_count(shape.kernel);
  for (std::int64_t t = 0; t < taps; ++t) {
    // Output o gets input i where o + pad = i * stride + distance.
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t reach =
          phase.begin[d] + shape.pads_begin[d] - distances[static_cast<std::size_t>(t) * rank + d];
      if (reach % shape.strides[d] == 0) at.push_back(reach / shape.strides[d]);
    }
    if (at.size() != rank) continue;
    phase.taps.push_back(t);
    phase.offsets.insert(phase.offsets.end(), at.begin(), at.end());
  }
  return phase;
}

// The weights of a phase as a matrix: row = output channel, column = (input channel, tap).
template <class F>
std::vector<F> phase_weights(const TransposeShape& shape, const Phase& phase, const F* w) {
  const std::int64_t kernel = checked_count(shape.kernel);
  std::vector<F> matrix;
  matrix.reserve(static_cast<std::size_t>(shape.groups * shape.in_per_group * shape.out_per_group) *
                 phase.taps.size());
  for (std::int64_t g = 0; g < shape.groups; ++g)
    for (std::int64_t m = 0; m < shape.out_per_group; ++m)
      for (std::int64_t c = 0; c < shape.in_per_group; ++c)
        for (std::int64_t tap : phase.taps)
          matrix.push_back(w[((g * shape.in_per_group + c) * shape.out_per_group + m) * kernel + tap]);
  return matrix;
}

}  // namespace

KF_ORACLE_OPERATOR(ConvTranspose) {
  const Tensor<F>&x = call.in(0), &w = call.in(1);
  const TransposeShape shape(call.node, x.shape(), w.shape());
  Tensor<F> y(x.dtype(), shape.result);
  const std::int64_t pixels = checked_count(shape.input),
                     phases = y.size() == 0 || w.size() == 0 ? 0 : checked_count(phase_counts(shape));
  const Shape out_strides = contiguous_strides(shape.output);
  const std::int64_t outputs = checked_count(shape.output);
  const Shape ones(shape.input.size(), 1);
  for (std::int64_t p = 0; p < phases; ++p) {
    const Phase phase = make_phase(shape, p);
    const std::int64_t count = checked_count(phase.count),
                       planes = shape.batch * shape.groups * shape.out_per_group;
    if (phase.taps.empty()) continue;
    const std::vector<F> weights = phase_weights(shape, phase, w.floats().data());
    std::vector<F> part(static_cast<std::size_t>(planes * count));
    const GemmSize size{shape.out_per_group, count,
                        shape.in_per_group * static_cast<std::int64_t>(phase.taps.size())};
    multiply_batches(
        call.threads, shape.batch * shape.groups, size,
        [&](std::int64_t n) {
          return std::pair(
              PackMatrix<F>{{weights.data() + n % shape.groups * size.rows * size.depth, 1, size.depth}},
              PackPatches<F>{shape.input, phase.count, ones, phase.offsets,
                             static_cast<std::int64_t>(phase.taps.size()),
                             x.floats().data() + n * shape.in_per_group * pixels, pixels});
        },
        part.data());
    // Interleave.
    Shape steps;
    std::int64_t base = 0;
    for (std::size_t d = 0; d < shape.output.size(); ++d) {
      steps.push_back(out_strides[d] * shape.strides[d]);
      base += phase.begin[d] * out_strides[d];
    }
    const Walk<1> walk(phase.count, {steps});
    F* to = y.new_floats().data();
    call.parallel(planes, 2 * count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane)
        walk.run(0, count, [&](std::int64_t position, const auto& offsets, std::int64_t length) {
          for (std::int64_t j = 0; j < length; ++j)
            to[plane * outputs + base + offsets[0] + j * walk.inner(0)] =
                part[static_cast<std::size_t>(plane * count + position + j)];
        });
    });
  }
  if (call.has(2)) add_channel_bias(call, call.in(2), y);
  return {y};
}

KF_ORACLE_INSTANTIATE(ConvTranspose)

}  // namespace kforge
