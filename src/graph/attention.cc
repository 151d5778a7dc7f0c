#include "graph/attention.h"

#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "graph/tensor_proto.h"

namespace kforge {
namespace {

onnx::TensorProto float_scalar(float value) {
  ConstantTensor tensor{DType::kFloat32, {}, std::vector<std::byte>(sizeof value), {}};
  std::memcpy(tensor.data.data(), &value, sizeof value);
  return tensor_to_proto("", tensor);
}

// [B, L, heads * E] to [B, heads, L, E].
std::string split_heads(std::string_view from, std::string_view to, std::int64_t heads) {
  return fmt::format(R"(
    {1}_target = Constant <value_ints = [0, 0, {2}, -1]> ()
    {1}_split = Reshape({0}, {1}_target)
    {1} = Transpose <perm = [0, 2, 1, 3]> ({1}_split)
  )",
                     from, to, heads);
}

}  // namespace

// Q [B, Hq, L, E], K [B, Hkv, S, E], V [B, Hkv, S, Ev], or the same with heads merged into the last axis.
// Each key and value head serves Hq / Hkv query heads that follow one another.
Result<NodeList> rewrite_attention(const RewriteSite& site) {
  const std::string& name = site.node.name();
  if (!site.has_input(0) || !site.has_input(1) || !site.has_input(2))
    return fail("node '{}' (Attention) needs Q, K and V", name);
  bool merged = site.attribute("q_num_heads") != nullptr;
  std::int64_t q_heads = site.int_attribute("q_num_heads", 0),
               kv_heads = site.int_attribute("kv_num_heads", 0);
  if (merged && (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0))
    return fail("node '{}' (Attention): q_num_heads must be a multiple of kv_num_heads", name);
  bool causal = site.int_attribute("is_causal", 0) != 0, masked = site.has_input(3);
  bool past = site.has_input(4) && site.has_input(5);
  float softcap = site.float_attribute("softcap", 0);
  if (site.has_input(6)) return fail("node '{}' (Attention): nonpad_kv_seqlen is not supported", name);
  if (site.has_output(3))
    return fail("node '{}' (Attention): the output qk_matmul_output is not supported", name);
  for (const char* window : {"left_window_size", "right_window_size"})
    if (site.int_attribute(window, -1) >= 0)
      return fail("node '{}' (Attention): {} is not supported", name, window);
  int mask_type = masked ? site.scope.element_type(site.node.input(3)) : 0;
  if (masked && mask_type == 0)
    return fail("node '{}' (Attention): the element type of its mask is not declared", name);

  NodeList nodes = {
      make_constant(site.prefix + "minus_infinity", float_scalar(-std::numeric_limits<float>::infinity())),
      make_constant(site.prefix + "scale_given", float_scalar(site.float_attribute("scale", 0))),
      make_constant(site.prefix + "softcap_f", float_scalar(softcap))};
  std::string text;
  text += merged ? split_heads("in0", "q", q_heads) : "q = Identity(in0)\n";
  text += merged ? split_heads("in1", "k_new", kv_heads) : "k_new = Identity(in1)\n";
  text += merged ? split_heads("in2", "v_new", kv_heads) : "v_new = Identity(in2)\n";
  text += past ? "k = Concat <axis = 2> (in4, k_new)\n v = Concat <axis = 2> (in5, v_new)\n"
               : "k = Identity(k_new)\n v = Identity(v_new)\n";
  if (site.has_output(1)) text += "out1 = Identity(k)\n";
  if (site.has_output(2)) text += "out2 = Identity(v)\n";
  // Repeat each key and value head for its group: [B, H, S, E] to [B, H, 1, S, E] to [B, H, g, S, E] to [B,
  // Hq, S, E].
  text += R"(
    q_shape = Shape(q)
    heads_q = Shape <start = 1, end = 2> (q)
    heads_kv = Shape <start = 1, end = 2> (k)
    group = Div(heads_q, heads_kv)
    one1 = Constant <value_ints = [1]> ()
    two1 = Constant <value_ints = [2]> ()
    batch = Shape <start = 0, end = 1> (k)
    rest_k = Shape <start = 2, end = 4> (k)
    rest_v = Shape <start = 2, end = 4> (v)
    wide_k = Concat <axis = 0> (batch, heads_kv, group, rest_k)
    wide_v = Concat <axis = 0> (batch, heads_kv, group, rest_v)
    flat_k = Concat <axis = 0> (batch, heads_q, rest_k)
    flat_v = Concat <axis = 0> (batch, heads_q, rest_v)
    k5 = Unsqueeze(k, two1)
    v5 = Unsqueeze(v, two1)
    k_wide = Expand(k5, wide_k)
    v_wide = Expand(v5, wide_v)
    k_all = Reshape(k_wide, flat_k)
    v_all = Reshape(v_wide, flat_v)
    kt = Transpose <perm = [0, 1, 3, 2]> (k_all)
    products = MatMul(q, kt)
  )";
  text += site.attribute("scale") ? "scale = CastLike(scale_given, q)\n" : R"(
    width = Shape <start = 3, end = 4> (q)
    width_f = Cast <to = 1> (width)
    root = Sqrt(width_f)
    inverse = Reciprocal(root)
    scale = CastLike(inverse, q)
  )";
  text += "scores0 = Mul(products, scale)\n";
  if (softcap != 0)
    text +=
        "softcap = CastLike(softcap_f, q)\n capped = Div(scores0, softcap)\n t = Tanh(capped)\n scores1 = "
        "Mul(t, softcap)\n";
  else
    text += "scores1 = Identity(scores0)\n";
  text += "blocked = CastLike(minus_infinity, q)\n";
  if (!masked)
    text += "scores2 = Identity(scores1)\n";
  else if (mask_type == onnx::TensorProto::BOOL)
    text += "scores2 = Where(in3, scores1, blocked)\n";
  else
    text += "scores2 = Add(scores1, in3)\n";
  if (causal) {
    text += R"(
      length_q = Shape <start = 2, end = 3> (q)
      length_kv = Shape <start = 2, end = 3> (k)
      square = Concat <axis = 0> (length_q, length_kv)
      ones = ConstantOfShape <value = int64[1] {1}> (square)
      scalar = Constant <value = int64[1] {1}> ()
      empty = Constant <value = int64[0] {}> ()
    )";
    // With a cache the first query stands behind everything that is cached.
    text += past ? "before1 = Shape <start = 2, end = 3> (in4)\n before = Reshape(before1, empty)\n"
                 : "before = Constant <value = int64 {0}> ()\n";
    text += R"(
      lower = Trilu <upper = 0> (ones, before)
      visible = Cast <to = 9> (lower)
      scores3 = Where(visible, scores2, blocked)
    )";
  } else {
    text += "scores3 = Identity(scores2)\n";
  }
  text += "softmax = Softmax <axis = -1> (scores3)\n";
  // A query that may see nothing gets zeros, where softmax alone would give NaN.
  text += masked ? R"(
    highest = ReduceMax <axes = [3]> (scores3)
    nothing_seen = Equal(highest, blocked)
    zero_f = Constant <value = float {0.0}> ()
    zero = CastLike(zero_f, q)
    weights = Where(nothing_seen, zero, softmax)
  )"
                 : "weights = Identity(softmax)\n";
  text += "attended = MatMul(weights, v_all)\n";
  text += merged ? R"(
    back = Transpose <perm = [0, 2, 1, 3]> (attended)
    joined = Constant <value_ints = [0, 0, -1]> ()
    out0 = Reshape(back, joined)
  )"
                 : "out0 = Identity(attended)\n";
  KF_TRY(NodeList written, from_text(site, text));
  nodes.insert(nodes.end(), written.begin(), written.end());
  return nodes;
}

// X [B, H, S, D], or [B, S, H * D] with num_heads. The first rotary_embedding_dim (default: all) of each head
// are rotated in pairs: the two halves, or neighbours when interleaved.
Result<NodeList> rewrite_rotary_embedding(const RewriteSite& site) {
  if (!site.has_input(2))
    return fail("node '{}' (RotaryEmbedding) needs X, cos_cache and sin_cache", site.node.name());
  std::int64_t heads = site.int_attribute("num_heads", 0),
               width = site.int_attribute("rotary_embedding_dim", 0);
  bool merged = heads > 0, interleaved = site.int_attribute("interleaved", 0) != 0;
  std::string text;
  text += merged
              ? fmt::format("target = Constant <value_ints = [0, 0, {}, -1]> ()\n x = Reshape(in0, target)\n",
                            heads)
              : "x = Identity(in0)\n";
  text += site.has_input(3) ? "cos0 = Gather <axis = 0> (in1, in3)\n sin0 = Gather <axis = 0> (in2, in3)\n"
                            : "cos0 = Identity(in1)\n sin0 = Identity(in2)\n";
  text += fmt::format(
      "head_axis = Constant <value_ints = [{}]> ()\n cos = Unsqueeze(cos0, head_axis)\n sin = "
      "Unsqueeze(sin0, head_axis)\n",
      merged ? 2 : 1);
  text +=
      "axis3 = Constant <value_ints = [3]> ()\n zero = Constant <value_ints = [0]> ()\n end = Constant "
      "<value_ints = [9223372036854775807]> ()\n";
  if (width > 0)
    text += fmt::format(
        "width = Constant <value_ints = [{}]> ()\n turned = Slice(x, zero, width, axis3)\n kept = Slice(x, "
        "width, end, axis3)\n",
        width);
  else
    text += "turned = Identity(x)\n";
  if (interleaved)
    text += R"(
      one = Constant <value_ints = [1]> ()
      two = Constant <value_ints = [2]> ()
      a = Slice(turned, zero, end, axis3, two)
      b = Slice(turned, one, end, axis3, two)
    )";
  else
    text += "a, b = Split <axis = 3> (turned)\n";
  text += R"(
    ac = Mul(a, cos)
    bs = Mul(b, sin)
    real = Sub(ac, bs)
    as = Mul(a, sin)
    bc = Mul(b, cos)
    imaginary = Add(as, bc)
  )";
  if (interleaved)
    text += R"(
      last = Constant <value_ints = [4]> ()
      real5 = Unsqueeze(real, last)
      imaginary5 = Unsqueeze(imaginary, last)
      pairs = Concat <axis = 4> (real5, imaginary5)
      turned_shape = Shape(turned)
      rotated = Reshape(pairs, turned_shape)
    )";
  else
    text += "rotated = Concat <axis = 3> (real, imaginary)\n";
  text += width > 0 ? "whole = Concat <axis = 3> (rotated, kept)\n" : "whole = Identity(rotated)\n";
  text += merged ? "joined = Constant <value_ints = [0, 0, -1]> ()\n out0 = Reshape(whole, joined)\n"
                 : "out0 = Identity(whole)\n";
  return from_text(site, text);
}

}  // namespace kforge
