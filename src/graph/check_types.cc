#include "graph/check_types.h"

#include "graph/tensor_proto.h"

namespace kforge {
namespace {

using FormalParameter = onnx::OpSchema::FormalParameter;

// libonnx writes types as "tensor(float)".
std::string type_text(int onnx_type) {
  std::string name = onnx_type_name(onnx_type);
  if (name == "float32") name = "float";
  if (name == "float64") name = "double";
  return "tensor(" + name + ")";
}

bool allowed(const FormalParameter& formal, int onnx_type) {
  auto has = [&](const std::string& text) {
    for (const std::string* type : formal.GetTypes())
      if (*type == text) return true;
    return false;
  };
  if (has(type_text(onnx_type))) return true;
  return onnx_type == onnx::TensorProto::BFLOAT16 && (has("tensor(float16)") || has("tensor(float)"));
}

class Checker {
 public:
  explicit Checker(const Node& node) : node_(node) {}

  Result<void> check(const FormalParameter& formal, const onnx::TypeProto* type, const std::string& value) {
    if (!type || !type->has_tensor_type() || type->tensor_type().elem_type() == 0) return {};
    int onnx_type = type->tensor_type().elem_type();
    if (!allowed(formal, onnx_type))
      return fail("node '{}' ({}): '{}' is {}, which the operator does not take", node_.name, node_.op, value,
                  onnx_type_name(onnx_type));
    if (!formal.GetIsHomogeneous()) return {};
    auto [first, inserted] = bound_.try_emplace(formal.GetTypeStr(), onnx_type);
    if (!inserted && first->second != onnx_type)
      return fail("node '{}' ({}): '{}' is {} where another operand is {}", node_.name, node_.op, value,
                  onnx_type_name(onnx_type), onnx_type_name(first->second));
    return {};
  }

 private:
  const Node& node_;
  std::map<std::string, int> bound_;  // type variable ("T") to the type its first user has
};

const FormalParameter* formal_at(const std::vector<FormalParameter>& formals, std::size_t index) {
  if (index < formals.size()) return &formals[index];
  if (!formals.empty() && formals.back().GetOption() == onnx::OpSchema::Variadic) return &formals.back();
  return nullptr;
}

}  // namespace

Result<void> check_type_constraints(const Node& node, const onnx::OpSchema& schema,
                                    onnx::shape_inference::InferenceContextImpl& context) {
  Checker checker(node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (const FormalParameter* formal = formal_at(schema.inputs(), i); formal && !node.inputs[i].empty())
      KF_TRY_VOID(checker.check(*formal, context.getInputType(i), node.inputs[i]));
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (const FormalParameter* formal = formal_at(schema.outputs(), i); formal && !node.outputs[i].empty())
      KF_TRY_VOID(checker.check(*formal, context.getOutputType(i), node.outputs[i]));
  return {};
}

}  // namespace kforge
