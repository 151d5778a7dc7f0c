// Softmax and normalisations.
#include <cmath>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

using Desc = dnnl::memory::desc;

float* floats(std::size_t index, std::int64_t count) {
  return reinterpret_cast<float*>(probe_memory(index, static_cast<std::size_t>(count) * sizeof(float)));
}

void emit_softmax(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  Tensor y = b.output_over(node, 0, x);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", -1), x.shape.size()));
  std::int64_t outer = product(x.shape, 0, axis), n = x.shape[axis],
               inner = product(x.shape, axis + 1, x.shape.size());
  bool log = node.op == "LogSoftmax";
  Desc layout = describe_dense({outer, n, inner});
  auto kind = log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  dnnl::softmax_v2_forward::primitive_desc pd({dnnl::prop_kind::forward_inference, kind, layout, layout, 1},
                                              engine());
  dnnl::softmax_v2_forward primitive(pd);
  std::vector<Way> ways;
  ways.push_back({[=] {
                    float *from = floats(0, x.count()), *to = floats(1, x.count());
                    return probe([&] { loops::loops().softmax(log, from, to, outer, n, inner); });
                  },
                  [=, &b] {
                    b.step("loop", {x, y}, [=](const Pointers& p) {
                      loops::loops().softmax(log, p.get<float>(x), p.get<float>(y), outer, n, inner);
                    });
                  }});
  if (!std::string(pd.impl_info_str()).starts_with("ref"))
    ways.push_back(
        {[=] {
           return probe_primitive(primitive, {{DNNL_ARG_SRC, layout}, {DNNL_ARG_DST, layout}});
         },
         [=, &b] {
           b.primitive(pd.impl_info_str(), primitive, {{DNNL_ARG_SRC, layout, x}, {DNNL_ARG_DST, layout, y}});
         }});
  emit_fastest(ways);
}

// gamma and beta are null or have one element per channel (see NormRows).
void emit_rows(Builder& b, const loops::NormRows& rows, const Tensor& x, const std::optional<Tensor>& gamma,
               const std::optional<Tensor>& beta, const Tensor& y) {
  std::vector<Tensor> touches = {x, y};
  if (gamma) touches.push_back(*gamma);
  if (beta) touches.push_back(*beta);
  if (is_narrow(x.dtype) || is_narrow(y.dtype)) {
    loops::Number from = number_of(x.dtype), to = number_of(y.dtype);
    b.step("loop over narrow types", touches, [=](const Pointers& p) {
      loops::loops().normalise_rows_typed(rows, from, p.raw(x), gamma ? p.get<float>(*gamma) : nullptr,
                                          beta ? p.get<float>(*beta) : nullptr, to, p.raw(y));
    });
    return;
  }
  b.step("loop", touches, [=](const Pointers& p) {
    loops::loops().normalise_rows(rows, p.get<float>(x), gamma ? p.get<float>(*gamma) : nullptr,
                                  beta ? p.get<float>(*beta) : nullptr, p.get<float>(y));
  });
}

std::optional<Tensor> optional_dense(Builder& b, const Node& node, std::size_t i) {
  return b.has_input(node, i) ? std::optional(b.dense_input(node, i)) : std::nullopt;
}

// Scale and bias broadcast over the normalised axes; the loops want one element for each of them.
std::optional<Tensor> over_axes(Builder& b, const std::optional<Tensor>& t, const Shape& axes) {
  if (!t || t->count() == element_count(axes)) return t;
  return b.dense(expanded(*t, axes));
}

void emit_layer_norm(Builder& b, const Node& node) {
  if (b.wants_output(node, 1) || b.wants_output(node, 2))
    throw Unsupported("the statistics of LayerNormalization are not implemented");
  Tensor x = b.dense(b.raw_input(node, 0));
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", -1), x.shape.size()));
  Shape axes(x.shape.begin() + static_cast<std::ptrdiff_t>(axis), x.shape.end());
  std::int64_t outer = product(x.shape, 0, axis), n = element_count(axes);
  float epsilon = node.float_attr("epsilon", 1e-5f);
  bool rms = node.op == "RMSNormalization";
  auto gamma = over_axes(b, optional_dense(b, node, 1), axes);
  auto beta = rms ? std::nullopt : over_axes(b, optional_dense(b, node, 2), axes);
  loops::NormRows rows{outer, n, 1, 1, epsilon, rms};
  if (is_narrow(x.dtype) || b.ends_narrow(node, 0))
    return emit_rows(b, rows, x, gamma, beta, b.typed_output(node, 0));
  Tensor y = b.output(node, 0);
  std::vector<Way> ways;
  ways.push_back({[=] {
                    float *from = floats(0, x.count()), *to = floats(1, x.count()), *g = floats(2, n);
                    return probe(
                        [&] { loops::loops().normalise_rows(rows, from, g, beta ? g : nullptr, to); });
                  },
                  [=, &b] { emit_rows(b, rows, x, gamma, beta, y); }});
  if (gamma && beta) {
    using dnnl::normalization_flags;
    Desc layout = describe_dense({outer, n}), vector = describe_dense({n});
    dnnl::layer_normalization_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, layout, epsilon,
         normalization_flags::use_scale | normalization_flags::use_shift},
        engine());
    dnnl::layer_normalization_forward primitive(pd);
    if (!std::string(pd.impl_info_str()).starts_with("ref"))
      ways.push_back({[=] {
                        return probe_primitive(primitive, {{DNNL_ARG_SRC, layout},
                                                           {DNNL_ARG_DST, layout},
                                                           {DNNL_ARG_SCALE, vector},
                                                           {DNNL_ARG_SHIFT, vector}});
                      },
                      [=, &b] {
                        b.primitive(pd.impl_info_str(), primitive,
                                    {{DNNL_ARG_SRC, layout, x},
                                     {DNNL_ARG_DST, layout, y},
                                     {DNNL_ARG_SCALE, vector, *gamma},
                                     {DNNL_ARG_SHIFT, vector, *beta}});
                      }});
  }
  emit_fastest(ways);
}

// Instance and group normalisation: a row is one group of one image.
void emit_group_norm(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  std::int64_t batch = x.shape[0], channels = x.shape[1], spatial = product(x.shape, 2, x.shape.size());
  std::int64_t groups = node.op == "InstanceNormalization" ? channels : node.int_attr("num_groups", 1);
  if (groups <= 0 || channels % groups) throw Unsupported("the groups do not divide the channels");
  auto gamma = optional_dense(b, node, 1), beta = optional_dense(b, node, 2);
  loops::NormRows rows{batch * groups, channels / groups, spatial, groups, node.float_attr("epsilon", 1e-5f),
                       false};
  emit_rows(b, rows, x, gamma, beta, b.output(node, 0));
}

void emit_batch_norm(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  Tensor scale = b.dense_input(node, 1), bias = b.dense_input(node, 2), mean = b.dense_input(node, 3),
         variance = b.dense_input(node, 4);
  std::int64_t batch = x.shape[0], channels = x.shape.size() > 1 ? x.shape[1] : 1,
               spatial = product(x.shape, 2, x.shape.size());
  bool training = node.int_attr("training_mode", 0) != 0;
  float epsilon = node.float_attr("epsilon", 1e-5f), momentum = node.float_attr("momentum", 0.9f);
  Tensor used_mean = mean, used_variance = variance;
  if (training) {
    used_mean = b.temporary(DType::kFloat32, {channels});
    used_variance = b.temporary(DType::kFloat32, {channels});
    b.step("moments loop", {x, used_mean, used_variance}, [=](const Pointers& p) {
      loops::loops().channel_moments(batch, channels, spatial, p.get<float>(x), p.get<float>(used_mean),
                                     p.get<float>(used_variance));
    });
    auto running = [&](std::size_t i, const Tensor& old, const Tensor& now) {
      if (!b.wants_output(node, i)) return;
      Tensor to = b.output(node, i);
      b.step("running moments", {old, now, to}, [=](const Pointers& p) {
        for (std::int64_t c = 0; c < channels; ++c)
          p.get<float>(to)[c] = p.get<float>(old)[c] * momentum + p.get<float>(now)[c] * (1 - momentum);
      });
    };
    running(1, mean, used_mean);
    running(2, variance, used_variance);
  }
  Tensor factor = b.temporary(DType::kFloat32, {channels}), shift = b.temporary(DType::kFloat32, {channels});
  b.step("scale and shift", {scale, bias, used_mean, used_variance, factor, shift}, [=](const Pointers& p) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double f = p.get<float>(scale)[c] / std::sqrt(static_cast<double>(p.get<float>(used_variance)[c]) +
                                                    static_cast<double>(epsilon));
      p.get<float>(factor)[c] = static_cast<float>(f);
      p.get<float>(shift)[c] = static_cast<float>(p.get<float>(bias)[c] - f * p.get<float>(used_mean)[c]);
    }
  });
  Tensor y = b.output(node, 0);
  b.step("affine loop", {x, factor, shift, y}, [=](const Pointers& p) {
    loops::loops().channel_affine(batch, channels, spatial, p.get<float>(x), p.get<float>(factor),
                                  p.get<float>(shift), p.get<float>(y));
  });
}

// x / ||x||_p along an axis: a reduction and a division, as frameworks do it.
void emit_lp_norm(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", -1), x.shape.size()));
  std::int64_t outer = product(x.shape, 0, axis), n = x.shape[axis],
               inner = product(x.shape, axis + 1, x.shape.size());
  bool squares = node.int_attr("p", 2) == 2;
  Shape reduced = x.shape;
  reduced[axis] = 1;
  Tensor norm = b.temporary(DType::kFloat32, reduced);
  b.step("norm loop", {x, norm}, [=](const Pointers& p) {
    float* to = p.get<float>(norm);
    loops::loops().reduce(squares ? loops::Reduce::kSumSquare : loops::Reduce::kSumAbs, p.get<float>(x), to,
                          outer, n, inner);
    if (squares) loops::loops().unary(loops::Unary::kSqrt, 0, 0, to, to, outer * inner);
  });
  emit_pair(b, loops::Binary::kDiv, x, norm, b.output(node, 0));
}

}  // namespace

const OperatorTable& row_operators() {
  static const OperatorTable kTable = {{"Softmax", emit_softmax},
                                       {"LogSoftmax", emit_softmax},
                                       {"LayerNormalization", emit_layer_norm},
                                       {"RMSNormalization", emit_layer_norm},
                                       {"InstanceNormalization", emit_group_norm},
                                       {"GroupNormalization", emit_group_norm},
                                       {"BatchNormalization", emit_batch_norm},
                                       {"LpNormalization", emit_lp_norm}};
  return kTable;
}

}  // namespace kforge::onednn
