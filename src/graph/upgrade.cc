#include "graph/upgrade.h"

#include <onnx/defs/schema.h>

#include "graph/kforge_functions.h"
#include "graph/rewrite.h"

namespace kforge {
namespace {

const Rule* find_rule(const onnx::NodeProto& node, int opset) {
  const auto& rows = opset > kOpset ? rules_for_newer_opsets() : rules_for_older_opsets();
  for (const RuleRow& row : rows)
    if (row.op == node.op_type() && opset >= row.first_opset && opset <= row.last_opset) return &row.rule;
  return nullptr;
}

using Functions = std::set<std::pair<std::string, std::string>>;

class Upgrade {
 public:
  Upgrade(int opset, const Functions& functions) : opset_(opset), functions_(functions) {}

  Result<void> run(onnx::GraphProto& graph, const RewriteScope* parent) {
    RewriteScope scope(graph, parent);
    onnx::GraphProto made;
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) KF_TRY_VOID(run(*attribute.mutable_g(), &scope));
      KF_TRY(NodeList nodes, upgraded(node, scope));
      for (onnx::NodeProto& one : nodes) made.add_node()->Swap(&one);
    }
    graph.mutable_node()->Swap(made.mutable_node());
    return {};
  }

 private:
  Result<NodeList> upgraded(const onnx::NodeProto& node, const RewriteScope& scope) {
    const std::string& domain = node.domain();
    if (functions_.contains({domain, node.op_type()})) return NodeList{node};
    if (domain == "kforge") {
      if (!is_kforge_operator(node.op_type()))
        return fail("node '{}': there is no operator kforge.{}", node.name(), node.op_type());
      return NodeList{node};
    }
    if (!domain.empty() && domain != "ai.onnx") {
      if (onnx::OpSchemaRegistry::Schema(node.op_type(), 100, domain)) return NodeList{node};
      return fail("node '{}': operator {} of domain '{}' is not supported", node.name(), node.op_type(),
                  domain);
    }
    if (const Rule* rule = find_rule(node, opset_)) {
      RewriteSite site{node, opset_, scope, "u" + std::to_string(++count_) + ":"};
      KF_TRY(NodeList nodes, (*rule)(site));
      // The last one stands for the original and keeps its name.
      if (!nodes.empty()) nodes.back().set_name(node.name());
      return nodes;
    }
    const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), kOpset, "");
    if (!schema || schema->Deprecated())
      return fail("node '{}': operator {} of opset {} is not supported", node.name(), node.op_type(), opset_);
    return NodeList{node};
  }

  int opset_;
  const Functions& functions_;
  int count_ = 0;
};

}  // namespace

Result<void> upgrade_to_opset17(onnx::GraphProto& graph, int opset, const Functions& functions) {
  return Upgrade(opset, functions).run(graph, nullptr);
}

}  // namespace kforge
