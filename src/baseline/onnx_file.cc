#include "baseline/onnx_file.h"

#include <onnx/onnx_pb.h>

#include <set>

#include "base/files.h"

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

}  // namespace

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
