// to_onnx_model: the canonical graph as a file that any runtime can execute; to_own_model: as one for KForge.
#include <map>

#include "graph/graph.h"
#include "graph/kforge_functions.h"
#include "graph/own_model.h"
#include "graph/proto_graph.h"

namespace kforge {
namespace {

onnx::ModelProto model_of(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("kforge");
  auto import = [&](const std::string& domain, int version) {
    auto* opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  };
  import("", 17);
  import("kforge", 1);
  *model.mutable_graph() = graph_to_proto(graph);
  return model;
}

Result<std::string> bytes_of(const onnx::ModelProto& model) {
  std::string bytes;
  if (model.ByteSizeLong() > (std::size_t{1} << 31) - 1 || !model.SerializeToString(&bytes))
    return fail("the model is larger than the 2 GB a protobuf file can hold");
  return bytes;
}

}  // namespace

Result<std::string> to_own_model(const Graph& graph) { return bytes_of(model_of(graph)); }

Result<std::string> to_onnx_model(const Graph& graph) {
  onnx::ModelProto model = model_of(graph);
  // A function of IR 8 has no default attributes, and Gelu's choice of formula is no attribute any body could
  // use: every set of attributes gets a function of its own, and its nodes none.
  std::map<std::string, std::string> made;  // body to name
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.domain != "kforge") continue;
    KF_TRY(onnx::FunctionProto function, make_kforge_function(node, graph, node.op));
    std::string body = function.SerializeAsString();
    auto [entry, inserted] = made.try_emplace(body, node.op);
    if (inserted) {
      if (int same = 0; true) {
        for (const auto& [other_body, other_name] : made)
          if (other_name == node.op || other_name.starts_with(node.op + "_")) ++same;
        if (same > 1) entry->second = fmt::format("{}_{}", node.op, same);
      }
      function.set_name(entry->second);
      *model.add_functions() = std::move(function);
    }
    auto* proto = model.mutable_graph()->mutable_node(static_cast<int>(i));
    proto->set_op_type(entry->second);
    proto->clear_attribute();
  }
  return bytes_of(model);
}

}  // namespace kforge
