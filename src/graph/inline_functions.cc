#include "graph/inline_functions.h"

#include <map>
#include <unordered_map>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

namespace kforge {
namespace {

constexpr int kDepthLimit = 24;
constexpr std::size_t kNodeLimit = 200'000;  // a small file can ask for an exponential number of nodes

class Inliner {
 public:
  explicit Inliner(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[{function.domain(), function.name()}] = {&function, default_attributes(function)};
  }

  Result<void> expand(onnx::GraphProto& graph, int depth) {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    return expand_list(nodes, *graph.mutable_node(), depth);
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  Result<void> expand_list(Nodes& from, Nodes& to, int depth) {
    for (auto& node : from) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) KF_TRY_VOID(expand(*attribute.mutable_g(), depth));
      auto function = functions_.find({node.domain(), node.op_type()});
      if (function == functions_.end()) {
        if (++count_ > kNodeLimit) return fail("more than {} nodes after expanding functions", kNodeLimit);
        to.Add()->Swap(&node);
        continue;
      }
      if (depth >= kDepthLimit)
        return fail("functions are nested deeper than {} levels, or call themselves ('{}')", kDepthLimit,
                    node.op_type());
      KF_TRY_VOID(expand_call(node, function->second, to, depth + 1));
    }
    return {};
  }

  struct Callee {
    const onnx::FunctionProto* function = nullptr;
    std::vector<onnx::AttributeProto> defaults;
  };

  // Since IR 9 functions have attributes with defaults, in a field libonnx 1.12 does not know.
  static std::vector<onnx::AttributeProto> default_attributes(const onnx::FunctionProto& function) {
    constexpr int kAttributeProtoField = 11;
    std::vector<onnx::AttributeProto> out;
    const auto& unknown = function.unknown_fields();
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      onnx::AttributeProto attribute;
      if (field.number() == kAttributeProtoField &&
          field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
          attribute.ParseFromString(field.length_delimited()))
        out.push_back(std::move(attribute));
    }
    return out;
  }

  Result<void> expand_call(const onnx::NodeProto& call, const Callee& callee, Nodes& to, int depth) {
    const onnx::FunctionProto& function = *callee.function;
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      return fail("node '{}' gives function '{}' more inputs or outputs than it has", call.name(),
                  function.name());
    std::unordered_map<std::string, std::string> names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (int i = 0; i < function.output_size(); ++i)
      if (i < call.output_size() && !call.output(i).empty()) names[function.output(i)] = call.output(i);
    std::map<std::string, const onnx::AttributeProto*> attributes;
    for (const auto& attribute : callee.defaults) attributes[attribute.name()] = &attribute;
    for (const auto& attribute : call.attribute()) attributes[attribute.name()] = &attribute;

    Nodes body = function.node();
    // The colon keeps clear of ordinary names; sanitise_names turns it into an identifier that is free.
    std::string prefix = "f" + std::to_string(++calls_) + ":";
    for (auto& node : body) {
      rename(node, names, prefix);
      bind_attributes(node, attributes);
    }
    return expand_list(body, to, depth);
  }

  // Values that are neither inputs nor outputs of the function get the call's own prefix.
  void rename(onnx::NodeProto& node, std::unordered_map<std::string, std::string>& names,
              const std::string& prefix) {
    auto replace = [&](std::string* name) {
      if (name->empty()) return;
      *name = names.try_emplace(*name, prefix + *name).first->second;
    };
    for (auto& name : *node.mutable_input()) replace(&name);
    for (auto& name : *node.mutable_output()) replace(&name);
    if (!node.name().empty()) node.set_name(prefix + node.name());
    for (auto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      auto& graph = *attribute.mutable_g();
      for (auto& value : *graph.mutable_input()) replace(value.mutable_name());
      for (auto& tensor : *graph.mutable_initializer()) replace(tensor.mutable_name());
      for (auto& inner : *graph.mutable_node()) rename(inner, names, prefix);
      for (auto& value : *graph.mutable_output()) replace(value.mutable_name());
      graph.clear_value_info();
    }
  }

  // An attribute that refers to one of the function's is replaced by the call's, or dropped when the call
  // gives none.
  void bind_attributes(onnx::NodeProto& node,
                       const std::map<std::string, const onnx::AttributeProto*>& given) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> kept;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        for (auto& inner : *attribute.mutable_g()->mutable_node()) bind_attributes(inner, given);
      if (attribute.ref_attr_name().empty()) {
        kept.Add()->Swap(&attribute);
        continue;
      }
      auto found = given.find(attribute.ref_attr_name());
      if (found == given.end()) continue;
      auto* bound = kept.Add();
      *bound = *found->second;
      bound->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }

  std::map<std::pair<std::string, std::string>, Callee> functions_;
  std::size_t count_ = 0, calls_ = 0;
};

}  // namespace

Result<void> inline_functions(onnx::ModelProto& model) {
  if (model.functions_size() > 0) KF_TRY_VOID(Inliner(model).expand(*model.mutable_graph(), 0));
  model.clear_functions();
  return {};
}

}  // namespace kforge
