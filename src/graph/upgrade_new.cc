// Operators that are new or changed after opset 17 (up to 28). One that is not here only took more element
// types since, which the type check refuses by name where KForge does not read them.
#include <fmt/core.h>

#include "graph/attention.h"
#include "graph/rewrite.h"
#include "graph/tensor_proto.h"

namespace kforge {
namespace {

constexpr std::string_view kReductions[] = {"ReduceMax",    "ReduceMin",       "ReduceMean",
                                            "ReduceProd",   "ReduceL1",        "ReduceL2",
                                            "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

// Axes moved from attribute to input in opset 18. With noop_with_empty_axes and no axes nothing is reduced.
// Axes that are computed may still turn out constant when shapes are known: infer_types makes them an
// attribute then.
Result<NodeList> reduction(const RewriteSite& site) {
  if (site.has_input(1) && !site.scope.constant(site.node.input(1)))
    return drop_attributes({{"noop_with_empty_axes", {}}})(site);
  KF_TRY(NodeList nodes, input_to_attribute(1, "axes", true)(site));
  bool noop = site.int_attribute("noop_with_empty_axes", 0) != 0;
  bool has_axes = false;
  for (const auto& attribute : nodes[0].attribute()) has_axes |= attribute.name() == "axes";
  if (noop && !has_axes) return from_text(site, "out0 = Identity(in0)");
  RewriteSite rest{nodes[0], site.opset, site.scope, site.prefix};
  return drop_attributes({{"noop_with_empty_axes", {}}})(rest);
}

// `pads` for some axes becomes `pads` for all: zeros, with the given ones scattered in. Folded when shapes
// are known.
Result<NodeList> pad_axes(const RewriteSite& site) {
  if (site.string_attribute("mode", "constant") == "wrap")
    return fail("node '{}' (Pad): mode wrap is not supported", site.node.name());
  onnx::NodeProto node = site.node;
  if (!site.has_input(3)) {
    while (node.input_size() > 3) node.mutable_input()->RemoveLast();
    return NodeList{node};
  }
  KF_TRY(NodeList nodes, from_text(site, R"(
    shape = Shape(in0)
    rank = Size(shape)
    one_d = Constant <value_ints = [1]> ()
    rank1 = Reshape(rank, one_d)
    axes64 = Cast <to = 7> (in3)
    axes = Mod(axes64, rank1)
    ends = Add(axes, rank1)
    places = Concat <axis = 0> (axes, ends)
    both = Add(rank1, rank1)
    zeros = ConstantOfShape <value = int64[1] {0}> (both)
    pads = ScatterElements <axis = 0> (zeros, places, in1)
  )"));
  while (node.input_size() > 3) node.mutable_input()->RemoveLast();
  node.set_input(1, site.prefix + "pads");
  nodes.push_back(std::move(node));
  return nodes;
}

// Sizes or scales for some axes become ones for all.
Result<NodeList> resize(const RewriteSite& site) {
  KF_TRY(NodeList plain,
         drop_attributes({{"antialias", {"0"}}, {"keep_aspect_ratio_policy", {"stretch"}}})(site));
  if (site.string_attribute("coordinate_transformation_mode", "") == "half_pixel_symmetric")
    return fail("node '{}' (Resize): half_pixel_symmetric is not supported", site.node.name());
  const onnx::AttributeProto* axes = site.attribute("axes");
  if (!axes) return plain;
  onnx::NodeProto node = plain[0];
  KF_TRY(plain, drop_attributes({{"axes", {}}})(RewriteSite{node, site.opset, site.scope, site.prefix}));
  node = plain[0];
  if (site.has_input(1) && node.input_size() > 1) {
    // A region of interest has entries per axis too; only the mode tf_crop_and_resize reads it.
    if (site.string_attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize")
      return fail("node '{}' (Resize): tf_crop_and_resize with axes is not supported", site.node.name());
    node.set_input(1, "");
  }
  NodeList nodes = {
      make_constant(site.prefix + "axes_given",
                    tensor_to_proto("", int64_vector({axes->ints().begin(), axes->ints().end()})))};
  bool by_sizes = site.has_input(3);
  std::string text = R"(
    shape = Shape(in0)
    rank = Size(shape)
    one_d = Constant <value_ints = [1]> ()
    rank1 = Reshape(rank, one_d)
    axes = Mod(axes_given, rank1)
  )";
  text += by_sizes ? "full = ScatterElements <axis = 0> (shape, axes, in3)"
                   : "ones = ConstantOfShape <value = float[1] {1.0}> (rank1)\n full = ScatterElements <axis "
                     "= 0> (ones, axes, in2)";
  KF_TRY(NodeList expanded, from_text(site, text));
  nodes.insert(nodes.end(), expanded.begin(), expanded.end());
  node.set_input(by_sizes ? 3 : 2, site.prefix + "full");
  nodes.push_back(std::move(node));
  return nodes;
}

// Until opset 20 scale and bias had one element per group.
Result<NodeList> group_norm_18(const RewriteSite& site) {
  KF_TRY(NodeList nodes, from_text(site, fmt::format(R"(
    shape = Shape <start = 1, end = 2> (in0)
    groups = Constant <value_ints = [{}]> ()
    per_group = Div(shape, groups)
    last = Constant <value_ints = [1]> ()
    flat = Constant <value_ints = [-1]> ()
    repeat = Concat <axis = 0> (last, per_group)
    scale2 = Unsqueeze(in1, last)
    scale3 = Tile(scale2, repeat)
    scale = Reshape(scale3, flat)
    bias2 = Unsqueeze(in2, last)
    bias3 = Tile(bias2, repeat)
    bias = Reshape(bias3, flat)
  )",
                                                     site.int_attribute("num_groups", 1))));
  onnx::NodeProto node = site.node;
  if (node.input_size() != 3) return fail("node '{}' (GroupNormalization) needs three inputs", node.name());
  node.set_domain("kforge");
  node.set_input(1, site.prefix + "scale");
  node.set_input(2, site.prefix + "bias");
  nodes.push_back(std::move(node));
  return nodes;
}

Result<NodeList> swiglu(const RewriteSite& site) {
  return from_text(site, fmt::format("gate = kforge.Swish <alpha = {:.9e}> (in0)\n out0 = Mul(gate, in1)",
                                     site.float_attribute("alpha", 1)));
}

Result<NodeList> grid_sample(const RewriteSite& site) {
  onnx::NodeProto node = site.node;
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.name() == "mode") {
      if (attribute.s() == "linear") attribute.set_s("bilinear");
      if (attribute.s() == "cubic") attribute.set_s("bicubic");
    }
  return NodeList{node};
}

Rule to_kforge(std::string op, std::vector<DroppedAttribute> dropped = {}) {
  return in_turn({drop_attributes(std::move(dropped)), rename(std::move(op), "kforge")});
}

}  // namespace

const std::vector<RuleRow>& rules_for_newer_opsets() {
  static const std::vector<RuleRow> rows = [] {
    std::vector<RuleRow> table = {
        {"Gelu", 20, kEveryLater, to_kforge("Gelu")},
        {"Mish", 18, kEveryLater, to_kforge("Mish")},
        {"Swish", 24, kEveryLater, to_kforge("Swish")},
        {"RMSNormalization", 23, kEveryLater, to_kforge("RMSNormalization", {{"stash_type", {}}})},
        {"GroupNormalization", 18, 20, group_norm_18},
        {"GroupNormalization", 21, kEveryLater, to_kforge("GroupNormalization", {{"stash_type", {}}})},
        {"CumProd", 26, kEveryLater, to_kforge("CumProd")},
        {"Attention", 23, kEveryLater, rewrite_attention},
        {"RotaryEmbedding", 23, kEveryLater, rewrite_rotary_embedding},
        {"Split", 18, kEveryLater, drop_attributes({{"num_outputs", {}}})},
        {"Pad", 18, kEveryLater, pad_axes},
        {"Resize", 18, kEveryLater, resize},
        {"LpPool", 18, kEveryLater, drop_attributes({{"dilations", {"[1,1]"}}, {"ceil_mode", {"0"}}})},
        {"AveragePool", 19, kEveryLater, drop_attributes({{"dilations", {"[1,1]"}}})},
        {"Cast", 19, kEveryLater, drop_attributes({{"saturate", {}}, {"round_mode", {}}})},
        {"CastLike", 19, kEveryLater, drop_attributes({{"saturate", {}}, {"round_mode", {}}})},
        {"QuantizeLinear", 19, kEveryLater,
         drop_attributes(
             {{"saturate", {}}, {"block_size", {"0"}}, {"output_dtype", {"0"}}, {"precision", {}}})},
        {"DequantizeLinear", 19, kEveryLater,
         drop_attributes({{"block_size", {"0"}}, {"output_dtype", {"0"}}})},
        {"DFT", 20, kEveryLater, input_to_attribute(2, "axis", false)},
        {"GridSample", 20, kEveryLater, grid_sample},
        {"Range", 27, kEveryLater, drop_attributes({{"stash_type", {}}})},
        {"SpaceToDepth", 28, kEveryLater, drop_attributes({{"mode", {"DCR"}}})},
        {"SwiGLU", 28, kEveryLater, swiglu},
    };
    for (std::string_view op : kReductions) table.push_back({op, 18, kEveryLater, reduction});
    return table;
  }();
  return rows;
}

}  // namespace kforge
