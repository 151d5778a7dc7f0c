#include "graph/proto_graph.h"

#include <unordered_map>
#include <unordered_set>

#include "graph/tensor_proto.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;

Result<Attribute> attribute_from_proto(const AttributeProto& proto, const std::string& node,
                                       const fs::path& folder) {
  switch (proto.type()) {
    case AttributeProto::INT:
      return Attribute(static_cast<std::int64_t>(proto.i()));
    case AttributeProto::FLOAT:
      return Attribute(proto.f());
    case AttributeProto::STRING:
      return Attribute(proto.s());
    case AttributeProto::INTS:
      return Attribute(std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end()));
    case AttributeProto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case AttributeProto::TENSOR: {
      KF_TRY(ConstantTensor tensor, tensor_from_proto(proto.t(), folder));
      return Attribute(std::move(tensor));
    }
    case AttributeProto::GRAPH: {
      KF_TRY(Graph graph, graph_from_proto(proto.g(), folder));
      return Attribute(std::make_shared<const Graph>(std::move(graph)));
    }
    default:
      return fail("node '{}': attribute '{}' is of a kind that is not supported", node, proto.name());
  }
}

AttributeProto attribute_to_proto(const std::string& name, const Attribute& attribute) {
  AttributeProto proto;
  proto.set_name(name);
  struct Visitor {
    AttributeProto& proto;
    void operator()(std::int64_t value) { proto.set_type(AttributeProto::INT), proto.set_i(value); }
    void operator()(float value) { proto.set_type(AttributeProto::FLOAT), proto.set_f(value); }
    void operator()(const std::string& value) { proto.set_type(AttributeProto::STRING), proto.set_s(value); }
    void operator()(const std::vector<std::int64_t>& values) {
      proto.set_type(AttributeProto::INTS);
      for (std::int64_t value : values) proto.add_ints(value);
    }
    void operator()(const std::vector<float>& values) {
      proto.set_type(AttributeProto::FLOATS);
      for (float value : values) proto.add_floats(value);
    }
    void operator()(const std::vector<std::string>& values) {
      proto.set_type(AttributeProto::STRINGS);
      for (const std::string& value : values) proto.add_strings(value);
    }
    void operator()(const ConstantTensor& value) {
      proto.set_type(AttributeProto::TENSOR);
      *proto.mutable_t() = tensor_to_proto("", value);
    }
    void operator()(const std::shared_ptr<const Graph>& value) {
      proto.set_type(AttributeProto::GRAPH);
      *proto.mutable_g() = graph_to_proto(*value);
    }
  };
  std::visit(Visitor{proto}, attribute);
  return proto;
}

Result<Node> node_from_proto(const onnx::NodeProto& proto, std::string name, const fs::path& folder) {
  Node node;
  node.name = std::move(name);
  node.op = proto.op_type();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
  for (const AttributeProto& attribute : proto.attribute()) {
    KF_TRY(Attribute value, attribute_from_proto(attribute, node.name, folder));
    if (!node.attributes.emplace(attribute.name(), std::move(value)).second)
      return fail("node '{}' has the attribute '{}' twice", node.name, attribute.name());
  }
  return node;
}

Result<Value> value_from_proto(const onnx::ValueInfoProto& proto) {
  using onnx::TypeProto;
  Value value{proto.name(), {}, true};
  bool absent = proto.type().value_case() == TypeProto::VALUE_NOT_SET;
  if (absent || (proto.type().has_tensor_type() && proto.type().tensor_type().elem_type() == 0)) {
    value.typed = false;
    value.type.ranked = false;
    return value;
  }
  KF_TRY(value.type, type_from_proto(proto.type(), proto.name()));
  return value;
}

// Gives every node a name of its own.
class NodeNames {
 public:
  std::string name(const onnx::NodeProto& proto, std::size_t index) {
    std::string wanted = proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), index) : proto.name();
    std::string base = wanted;
    int& number = last_number_.try_emplace(base, 1).first->second;
    while (!taken_.insert(wanted).second) wanted = fmt::format("{}_{}", base, ++number);
    return wanted;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_number_;
};

}  // namespace

Result<Graph> graph_from_proto(const onnx::GraphProto& proto, const fs::path& folder) {
  Graph graph;
  graph.name = proto.name();
  if (proto.sparse_initializer_size() > 0) return fail("sparse initializers are not supported");
  std::unordered_set<std::string> initialized;
  for (const auto& tensor : proto.initializer()) {
    if (!initialized.insert(tensor.name()).second)
      return fail("initializer '{}' appears twice", tensor.name());
    KF_TRY(ConstantTensor value, tensor_from_proto(tensor, folder));
    graph.initializers.push_back({tensor.name(), std::move(value)});
  }
  for (const auto& input : proto.input()) {
    // Before IR 4 every initializer is listed as an input too.
    if (initialized.contains(input.name())) continue;
    KF_TRY(Value value, value_from_proto(input));
    graph.inputs.push_back(std::move(value));
  }
  for (const auto& output : proto.output()) {
    KF_TRY(Value value, value_from_proto(output));
    graph.outputs.push_back(std::move(value));
  }
  NodeNames names;
  for (const auto& node_proto : proto.node()) {
    KF_TRY(Node node, node_from_proto(node_proto, names.name(node_proto, graph.nodes.size()), folder));
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

onnx::NodeProto node_to_proto(const Node& node) {
  onnx::NodeProto proto;
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  proto.set_domain(node.domain);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const auto& [name, attribute] : node.attributes)
    *proto.add_attribute() = attribute_to_proto(name, attribute);
  return proto;
}

onnx::GraphProto graph_to_proto(const Graph& graph) {
  onnx::GraphProto proto;
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  std::unordered_set<std::string> listed;
  auto fill = [&](onnx::ValueInfoProto* info, const Value& value) {
    info->set_name(value.name);
    if (value.typed) *info->mutable_type() = type_to_proto(value.type);
    listed.insert(value.name);
  };
  for (const Value& value : graph.inputs) fill(proto.add_input(), value);
  for (const Value& value : graph.outputs) fill(proto.add_output(), value);
  for (const Initializer& initializer : graph.initializers) {
    *proto.add_initializer() = tensor_to_proto(initializer.name, initializer.tensor);
    listed.insert(initializer.name);
  }
  for (const Node& node : graph.nodes) *proto.add_node() = node_to_proto(node);
  for (const auto& [name, type] : graph.types)
    if (!listed.contains(name)) fill(proto.add_value_info(), {name, type});
  return proto;
}

}  // namespace kforge
