// Normalisations. Means and variances are taken in two passes over the elements, each summed in index order,
// in chains.
#include <cmath>

#include "oracle/chain_sum.h"
#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

template <class F>
struct Moments {
  F mean, variance;
};

// Over `pieces` runs of `length` elements, `step` apart.
template <class F>
Moments<F> moments_of(const F* x, std::int64_t pieces, std::int64_t step, std::int64_t length) {
  const F count = static_cast<F>(pieces * length);
  ChainSum<F> sum(pieces * length), squares(pieces * length);
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::int64_t i = 0; i < length; ++i) sum.add(x[p * step + i]);
  const F mean = sum.total() / count;
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::int64_t i = 0; i < length; ++i) {
      const F d = x[p * step + i] - mean;
      squares.add(d * d);
    }
  return {mean, squares.total() / count};
}

template <class F>
const F* per_channel(const Call<F>& call, std::size_t input, std::int64_t channels) {
  const Tensor<F>& t = call.in(input);
  if (t.size() != channels)
    refuse("input {} has shape {} where {} elements are needed", input, to_string(t.shape()), channels);
  return t.floats().data();
}

// N, C and the elements behind them.
struct ChannelView {
  std::int64_t batch, channels, pixels = 1;

  explicit ChannelView(const Shape& shape) {
    if (shape.size() < 2) refuse("shape {} has no channels", to_string(shape));
    batch = shape[0];
    channels = shape[1];
    for (std::size_t d = 2; d < shape.size(); ++d) pixels *= shape[d];
  }
};

}  // namespace

// Inputs: X, scale, B, mean, var. In training mode the batch's own moments are used, and the running ones
// updated.
KF_ORACLE_OPERATOR(BatchNormalization) {
  const Tensor<F>& x = call.in(0);
  const bool one_axis = x.rank() == 1;  // N alone: one channel
  const ChannelView view(one_axis ? Shape{x.dim(0), 1} : x.shape());
  const F *scale = per_channel(call, 1, view.channels), *bias = per_channel(call, 2, view.channels);
  const F *mean = per_channel(call, 3, view.channels), *variance = per_channel(call, 4, view.channels);
  const F epsilon = call.float_attr("epsilon", 1e-5f), momentum = call.float_attr("momentum", 0.9f);
  const bool training = call.int_attr("training_mode", 0) != 0;
  Tensor<F> y(x.dtype(), x.shape()), new_mean(call.in(3).dtype(), call.in(3).shape()),
      new_variance(call.in(4).dtype(), call.in(4).shape());
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(view.channels, 8 * view.batch * view.pixels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      Moments<F> moments{mean[c], variance[c]};
      if (training) {
        moments = moments_of(from + c * view.pixels, view.batch, view.channels * view.pixels, view.pixels);
        new_mean.new_floats()[static_cast<std::size_t>(c)] =
            mean[c] * momentum + moments.mean * (1 - momentum);
        new_variance.new_floats()[static_cast<std::size_t>(c)] =
            variance[c] * momentum + moments.variance * (1 - momentum);
      }
      const F deviation = std::sqrt(moments.variance + epsilon);
      for (std::int64_t n = 0; n < view.batch; ++n)
        for (std::int64_t i = 0; i < view.pixels; ++i) {
          const std::int64_t at = (n * view.channels + c) * view.pixels + i;
          to[at] = (from[at] - moments.mean) / deviation * scale[c] + bias[c];
        }
    }
  });
  if (!training) return {y};
  return {y, new_mean, new_variance};
}

// Inputs: X, scale, bias; every group of channels of every picture has moments of its own.
// Scale and bias have one element per channel, or (as opset 18 had it) one per group.
KF_ORACLE_OPERATOR(GroupNormalization) {
  const Tensor<F>& x = call.in(0);
  const ChannelView view(x.shape());
  const std::int64_t groups = call.int_attr("num_groups", 0);
  if (groups < 1 || view.channels % groups != 0)
    refuse("{} channels do not divide into {} groups", view.channels, groups);
  const std::int64_t per_group = view.channels / groups, parameters = call.in(1).size();
  const std::int64_t share = parameters == groups ? per_group : 1;  // channels that share a parameter
  const F *scale = per_channel(call, 1, view.channels / share),
          *bias = per_channel(call, 2, view.channels / share);
  const F epsilon = call.float_attr("epsilon", 1e-5f);
  Tensor<F> y(x.dtype(), x.shape());
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  const std::int64_t length = per_group * view.pixels;
  call.parallel(view.batch * groups, 8 * length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) {
      const auto [mean, variance] = moments_of(from + g * length, 1, 0, length);
      const F deviation = std::sqrt(variance + epsilon);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t channel = g % groups * per_group + i / view.pixels;
        to[g * length + i] =
            (from[g * length + i] - mean) / deviation * scale[channel / share] + bias[channel / share];
      }
    }
  });
  return {y};
}

// A group of its own for every channel.
KF_ORACLE_OPERATOR(InstanceNormalization) {
  const ChannelView view(call.in(0).shape());
  Node node = call.node;
  node.attributes["num_groups"] = view.channels;
  if (view.channels == 0) return {call.in(0)};
  return op_GroupNormalization(Call<F>{node, call.inputs, call.threads, call.scope});
}

// Inputs: X, scale, bias. Normalises over the axes from `axis` on. Outputs: Y, mean, 1 / deviation.
KF_ORACLE_OPERATOR(LayerNormalization) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", -1), x.rank());
  const Shape inner(x.shape().begin() + axis, x.shape().end());
  const std::int64_t length = element_count(inner), rows = length == 0 ? 0 : x.size() / length;
  Shape outer = x.shape();
  std::fill(outer.begin() + axis, outer.end(), 1);
  const F epsilon = call.float_attr("epsilon", 1e-5f);
  Tensor<F> normal(x.dtype(), x.shape()), mean(x.dtype(), outer), inverse(x.dtype(), outer);
  const F* from = x.floats().data();
  F *to = normal.new_floats().data(), *means = mean.new_floats().data(),
    *inverses = inverse.new_floats().data();
  call.parallel(rows, 8 * length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const auto moments = moments_of(from + r * length, 1, 0, length);
      const F deviation = std::sqrt(moments.variance + epsilon);
      means[r] = moments.mean;
      inverses[r] = 1 / deviation;
      for (std::int64_t i = 0; i < length; ++i)
        to[r * length + i] = (from[r * length + i] - moments.mean) / deviation;
    }
  });
  auto fits = [&](std::size_t input) { broadcast_strides(call.in(input).shape(), x.shape()); };
  fits(1);
  Tensor<F> y = combine_floats(call, normal, call.in(1), [](F v, F s) { return v * s; });
  if (call.has(2)) {
    fits(2);
    y = combine_floats(call, y, call.in(2), [](F v, F b) { return v + b; });
  }
  return {y, mean, inverse};
}

// Inputs: X, scale: x / sqrt(mean(x^2) + epsilon) * scale over the axes from `axis` on.
KF_ORACLE_OPERATOR(RMSNormalization) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", -1), x.rank());
  const std::int64_t length = element_count(Shape(x.shape().begin() + axis, x.shape().end()));
  const F epsilon = call.float_attr("epsilon", 1e-5f);
  Tensor<F> normal(x.dtype(), x.shape());
  const F* from = x.floats().data();
  F* to = normal.new_floats().data();
  call.parallel(length == 0 ? 0 : x.size() / length, 4 * length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      ChainSum<F> squares(length);
      for (std::int64_t i = 0; i < length; ++i) squares.add(from[r * length + i] * from[r * length + i]);
      const F size = std::sqrt(squares.total() / static_cast<F>(length) + epsilon);
      for (std::int64_t i = 0; i < length; ++i) to[r * length + i] = from[r * length + i] / size;
    }
  });
  if (!call.has(1)) return {normal};
  broadcast_strides(call.in(1).shape(), x.shape());
  return {combine_floats(call, normal, call.in(1), [](F v, F s) { return v * s; })};
}

// Divides by the 1-norm or 2-norm along an axis.
KF_ORACLE_OPERATOR(LpNormalization) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t p = call.int_attr("p", 2);
  if (p != 1 && p != 2) refuse("p is {}, not 1 or 2", p);
  const AxisView view(x.shape(), normal_axis(call.int_attr("axis", -1), x.rank()));
  Tensor<F> y(x.dtype(), x.shape());
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(view.outer * view.inner, 4 * view.length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t start = i / view.inner * view.length * view.inner + i % view.inner;
      ChainSum<F> sum(view.length);
      for (std::int64_t k = 0; k < view.length; ++k) {
        const F value = from[start + k * view.inner];
        sum.add(p == 1 ? std::fabs(value) : value * value);
      }
      const F norm = p == 2 ? std::sqrt(sum.total()) : sum.total();
      for (std::int64_t k = 0; k < view.length; ++k)
        to[start + k * view.inner] = from[start + k * view.inner] / norm;
    }
  });
  return {y};
}

// (x - mean) / (deviation + 1e-9) over the axes; the constant is part of ONNX's definition.
KF_ORACLE_OPERATOR(MeanVarianceNormalization) {
  Node node{.name = call.node.name};
  auto axes = call.node.ints_attr("axes");
  if (axes.empty()) axes = {0, 2, 3};
  node.attributes["axes"] = axes;
  auto mean_of = [&](const Tensor<F>& t) {
    return op_ReduceMean(Call<F>{node, {&t}, call.threads, call.scope})[0];
  };
  const Tensor<F>& x = call.in(0);
  const Tensor<F> centred = combine_floats(call, x, mean_of(x), [](F v, F mean) { return v - mean; });
  const Tensor<F> variance = mean_of(map_floats(call, centred, [](F v) { return v * v; }));
  return {combine_floats(call, centred, variance, [](F v, F var) { return v / (std::sqrt(var) + F(1e-9)); })};
}

// Divides by a power of the sum of squares over neighbouring channels.
KF_ORACLE_OPERATOR(LRN) {
  const Tensor<F>& x = call.in(0);
  const ChannelView view(x.shape());
  const std::int64_t size = call.int_attr("size", 1);
  if (size < 1 || size > kMaxElements) refuse("size is {}", size);
  const F alpha = call.float_attr("alpha", 1e-4f), beta = call.float_attr("beta", 0.75f),
          bias = call.float_attr("bias", 1);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  Tensor<F> y(x.dtype(), x.shape());
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(x.size(), 4 * size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t c = i / view.pixels % view.channels;
      F squares = 0;
      for (std::int64_t o = std::max<std::int64_t>(0, c - before);
           o <= std::min(view.channels - 1, c + after); ++o) {
        const F value = from[i + (o - c) * view.pixels];
        squares += value * value;
      }
      to[i] = from[i] / std::pow(bias + alpha / static_cast<F>(size) * squares, beta);
    }
  });
  return {y};
}

KF_ORACLE_INSTANTIATE(BatchNormalization)
KF_ORACLE_INSTANTIATE(GroupNormalization)
KF_ORACLE_INSTANTIATE(InstanceNormalization)
KF_ORACLE_INSTANTIATE(LayerNormalization)
KF_ORACLE_INSTANTIATE(RMSNormalization)
KF_ORACLE_INSTANTIATE(LpNormalization)
KF_ORACLE_INSTANTIATE(MeanVarianceNormalization)
KF_ORACLE_INSTANTIATE(LRN)

}  // namespace kforge
