#include "baseline/onnx_file.h"

#include <onnx/onnx_pb.h>

#include <set>

#include "base/files.h"
#include "graph/join.h"

namespace kforge {
namespace {

void make_external(onnx::TensorProto& tensor, std::size_t bytes) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char* key, const std::string& value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", "params");  // never opened: the values come from memory
  add("offset", "0");
  add("length", std::to_string(bytes));
}

// onnxruntime updates the running statistics of a BatchNormalization in place: where a graph that does not
// care gives it the scale and bias for them, those would change. Copies make that harmless.
void separate_statistics(onnx::GraphProto& graph) {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (onnx::NodeProto& node : nodes) {
    for (int i = 3; node.op_type() == "BatchNormalization" && i < node.input_size(); ++i) {
      if (node.input(i) != node.input(1) && node.input(i) != node.input(2)) continue;
      onnx::NodeProto* copy = graph.add_node();
      copy->set_op_type("Identity");
      copy->add_input(node.input(i));
      copy->add_output(node.output(0) + "_statistics_" + std::to_string(i));
      node.set_input(i, copy->output(0));
    }
    *graph.add_node() = std::move(node);
  }
}

// KForge's own operators by name, as the program that reads the file knows them, in place of functions, which
// OpenVINO does not read.
void name_operators(const Graph& graph, onnx::ModelProto& model) {
  model.clear_functions();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.domain != "kforge") continue;
    onnx::NodeProto& proto = *model.mutable_graph()->mutable_node(static_cast<int>(i));
    proto.set_op_type(node.op);
    for (const auto& [name, value] : node.attributes) {
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      if (auto* number = std::get_if<std::int64_t>(&value))
        attribute.set_type(onnx::AttributeProto::INT), attribute.set_i(*number);
      else if (auto* real = std::get_if<float>(&value))
        attribute.set_type(onnx::AttributeProto::FLOAT), attribute.set_f(*real);
      else if (auto* text = std::get_if<std::string>(&value))
        attribute.set_type(onnx::AttributeProto::STRING), attribute.set_s(*text);
    }
  }
}

onnx::ValueInfoProto input_for(const onnx::TensorProto& tensor) {
  onnx::ValueInfoProto input;
  input.set_name(tensor.name());
  auto* type = input.mutable_type()->mutable_tensor_type();
  type->set_elem_type(tensor.data_type());
  type->mutable_shape();
  for (std::int64_t d : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(d);
  return input;
}

}  // namespace

Result<void> write_onnx_file_with_inputs(const BoundTask& task, const fs::path& path) {
  Graph joined = join_operators(task.graph);
  std::set<std::string> params;
  for (Initializer& one : joined.initializers)
    if (!one.folded) params.insert(one.name), one.tensor.data.clear();
  KF_TRY(std::string bytes, to_onnx_model(joined));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return fail("the model cannot be read back");
  name_operators(joined, model);
  onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::TensorProto> constants;
  constants.Swap(graph.mutable_initializer());
  for (onnx::TensorProto& one : constants) {
    if (params.contains(one.name()))
      *graph.add_input() = input_for(one);
    else
      *graph.add_initializer() = std::move(one);
  }
  if (!model.SerializeToString(&bytes)) return fail("the model is too large for a protobuf file");
  return write_file_atomic(path, bytes);
}

Result<void> write_onnx_file(const BoundTask& task, const fs::path& path) {
  KF_TRY(std::string bytes, to_onnx_model(task.graph));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return fail("the model cannot be read back");
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const BoundArgument& argument : task.arguments) {
    if (argument.role != Role::kParam) continue;
    onnx::TensorProto* tensor = nullptr;
    for (onnx::TensorProto& one : *graph.mutable_initializer())
      if (one.name() == argument.name) tensor = &one;
    auto& inputs = *graph.mutable_input();
    for (int i = inputs.size(); i-- > 0;) {
      if (inputs[i].name() != argument.name) continue;
      if (!tensor) {
        tensor = graph.add_initializer();
        tensor->set_name(argument.name);
        tensor->set_data_type(inputs[i].type().tensor_type().elem_type());
        for (std::int64_t d : argument.shape) tensor->add_dims(d);
      }
      inputs.DeleteSubrange(i, 1);
    }
    if (tensor) make_external(*tensor, argument.bytes());
  }
  separate_statistics(graph);
  if (!model.SerializeToString(&bytes)) return fail("the model is too large for a protobuf file");
  return write_file_atomic(path, bytes);
}

}  // namespace kforge
