// Operators whose meaning or form changed before opset 17. An operator that is not here only took more
// element types or optional attributes since, so its older nodes are valid as they are.
#include <fmt/core.h>

#include "graph/rewrite.h"

namespace kforge {
namespace {

using Kind = AttributeInput::Kind;

// Before opset 13 these worked on the matrix that flattening at `axis` gives.
Result<NodeList> flattened_rows(const RewriteSite& site) {
  std::int64_t axis = site.int_attribute("axis", 1);
  return from_text(site, fmt::format(R"(
    shape = Shape(in0)
    matrix = Flatten <axis = {}> (in0)
    rows = {} <axis = 1> (matrix)
    out0 = Reshape(rows, shape)
  )",
                                     axis, site.node.op_type()));
}

// Before opset 7 broadcasting had to be asked for, possibly from an axis on; without an axis it is today's.
Result<NodeList> explicit_broadcast(const RewriteSite& site) {
  if (site.attribute("axis"))
    return fail("node '{}' ({}): broadcasting along an axis, of opset {}, is not supported", site.node.name(),
                site.node.op_type(), site.opset);
  return drop_attributes({{"broadcast", {}}, {"consumed_inputs", {}}})(site);
}

// Nearest neighbour and linear interpolation as opset 10 defined them: asymmetric coordinates, rounded down.
Result<NodeList> upsample_to_resize(const RewriteSite& site) {
  onnx::NodeProto node = site.node;
  node.set_op_type("Resize");
  std::string scales = node.input_size() > 1 ? node.input(1) : "";
  node.clear_input();
  node.add_input(site.node.input(0));
  node.add_input("");
  node.add_input(scales);
  *node.add_attribute() = make_string("coordinate_transformation_mode", "asymmetric");
  *node.add_attribute() = make_string("nearest_mode", "floor");
  return NodeList{node};
}

// Older forms could also return running statistics; they are the inputs when nothing is trained.
Result<NodeList> inference_batch_norm(const RewriteSite& site) {
  for (int i = 1; i < site.node.output_size(); ++i)
    if (site.has_output(i))
      return fail("node '{}' (BatchNormalization): training outputs of opset {} are not supported",
                  site.node.name(), site.opset);
  KF_TRY(NodeList nodes,
         drop_attributes({{"spatial", {"1"}}, {"is_test", {}}, {"consumed_inputs", {}}})(site));
  while (nodes[0].output_size() > 1) nodes[0].mutable_output()->RemoveLast();
  return nodes;
}

Result<NodeList> output_half_pixel(const RewriteSite& site) {
  onnx::NodeProto node = site.node;
  if (!site.attribute("coordinate_transformation_mode"))
    *node.add_attribute() = make_string("coordinate_transformation_mode", "output_half_pixel");
  return NodeList{node};
}

Rule axes_to_input() { return attributes_to_inputs(1, {{"axes", Kind::kInts}}); }

}  // namespace

const std::vector<RuleRow>& rules_for_older_opsets() {
  static const std::vector<RuleRow> rows = [] {
    std::vector<RuleRow> table = {
        {"Softmax", 1, 12, flattened_rows},
        {"LogSoftmax", 1, 12, flattened_rows},
        {"Hardmax", 1, 12, flattened_rows},
        {"Squeeze", 1, 12, axes_to_input()},
        {"Unsqueeze", 1, 12, axes_to_input()},
        {"ReduceSum", 1, 12, axes_to_input()},
        {"Split", 1, 12, attributes_to_inputs(1, {{"split", Kind::kInts}})},
        {"Clip", 1, 10,
         in_turn({drop_attributes({{"consumed_inputs", {}}}),
                  attributes_to_inputs(1, {{"min", Kind::kFloatLikeX}, {"max", Kind::kFloatLikeX}})})},
        {"Dropout", 1, 11, drop_attributes({{"ratio", {}}, {"is_test", {}}, {"consumed_inputs", {}}})},
        {"BatchNormalization", 1, 13, inference_batch_norm},
        {"Pad", 1, 1, refuse("its attribute was called paddings")},
        {"Pad", 2, 10, attributes_to_inputs(1, {{"pads", Kind::kInts}, {"value", Kind::kFloatLikeX}})},
        {"Slice", 1, 9,
         attributes_to_inputs(1, {{"starts", Kind::kInts}, {"ends", Kind::kInts}, {"axes", Kind::kInts}})},
        {"TopK", 1, 9, attributes_to_inputs(1, {{"k", Kind::kIntAsVector}})},
        {"Reshape", 1, 4,
         in_turn({drop_attributes({{"consumed_inputs", {}}}),
                  attributes_to_inputs(1, {{"shape", Kind::kInts}})})},
        {"Upsample", 1, 6, refuse("its attributes were height_scale and width_scale")},
        {"Upsample", 7, 8,
         in_turn({attributes_to_inputs(1, {{"scales", Kind::kFloats}}), upsample_to_resize})},
        {"Upsample", 9, 17, upsample_to_resize},
        {"Resize", 10, 10, upsample_to_resize},
        {"Scatter", 1, 17, rename("ScatterElements")},
        {"RoiAlign", 1, 15, output_half_pixel},
        {"Scan", 1, 8, refuse("scans over a batch were dropped in opset 9")},
        {"Cast", 1, 5, refuse("the type was a string")},
        {"Tile", 1, 5, refuse("")},
        {"Gemm", 1, 6, drop_attributes({{"broadcast", {}}})},
        {"LSTM", 1, 6, drop_attributes({{"output_sequence", {}}})},
        {"GRU", 1, 6, drop_attributes({{"output_sequence", {}}})},
        {"RNN", 1, 6, drop_attributes({{"output_sequence", {}}})},
    };
    for (std::string_view op :
         {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", "PRelu"})
      table.push_back({op, 1, 6, explicit_broadcast});
    for (std::string_view op : {"Relu",  "LeakyRelu", "Sigmoid", "Tanh", "Exp",
                                "Log",   "Neg",       "Abs",     "Sqrt", "Reciprocal",
                                "Floor", "Ceil",      "Elu",     "Selu", "HardSigmoid",
                                "Max",   "Min",       "Sum",     "Mean", "InstanceNormalization"})
      table.push_back({op, 1, 5, drop_attributes({{"consumed_inputs", {}}})});
    return table;
  }();
  return rows;
}

}  // namespace kforge
