#include "graph/infer.h"

#include <unordered_map>
#include <unordered_set>

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "graph/check_types.h"
#include "graph/einsum.h"
#include "graph/fold.h"
#include "graph/kforge_functions.h"
#include "graph/proto_graph.h"
#include "graph/tensor_proto.h"
#include "graph/upgrade.h"

namespace kforge {
namespace {

// Inference functions look at values of small inputs only (shapes, axes, scales); larger ones are not handed
// over.
constexpr std::int64_t kValueLimit = 4096;

class Inference {
 public:
  Inference(Graph& graph, const std::map<std::string, std::int64_t>* dims)
      : graph_(graph),
        dims_(dims),
        context_(types_, {{"", kOpset}, {"kforge", 1}}, &symbols_, no_functions_,
                 onnx::OpSchemaRegistry::Instance(), &shape_data_) {
    checker_.set_ir_version(8);
    checker_.set_opset_imports(
        {{"", kOpset}, {"ai.onnx.ml", 3}, {"ai.onnx.preview.training", 1}, {"kforge", 1}});
    for (const Value& output : graph.outputs) outputs_.insert(output.name);
  }

  Result<void> run() {
    for (const Value& input : graph_.inputs) {
      if (!input.typed) return fail("the graph input '{}' has no type", input.name);
      set_type(input.name, type_to_proto(input.type));
      scope_.add(input.name);
    }
    for (const Initializer& initializer : graph_.initializers) {
      add_constant(initializer.name, initializer.tensor);
      scope_.add(initializer.name);
    }
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      KF_TRY(bool folded, visit(node));
      for (const std::string& output : node.outputs)
        if (!output.empty()) scope_.add(output);
      if (!folded) kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
    for (Initializer& made : folded_) graph_.initializers.push_back(std::move(made));
    return store_types();
  }

 private:
  void set_type(const std::string& name, onnx::TypeProto type) {
    owned_types_.push_back(std::make_unique<onnx::TypeProto>(std::move(type)));
    types_[name] = owned_types_.back().get();
  }

  void add_constant(const std::string& name, const ConstantTensor& tensor) {
    set_type(name, type_to_proto(type_of(tensor)));
    if (element_count(tensor.shape) > kValueLimit) return;
    constants_[name] = tensor;
    tensors_.push_back(std::make_unique<onnx::TensorProto>(tensor_to_proto(name, tensor)));
    data_[name] = tensors_.back().get();
  }

  // True when the node was replaced by constants.
  Result<bool> visit(Node& node) {
    if (node.domain == "kforge" && node.op == "Dims") return visit_dims(node);
    try {
      KF_TRY_VOID(settle_axes(node));
      KF_TRY_VOID(check_node(node));
      if (auto value = fold(node)) return keep_constant(node.outputs[0], std::move(*value));
      KF_TRY_VOID(infer(node));
      return false;
    } catch (const std::exception& error) {
      return fail("node '{}' ({}): {}", node.name, node.op, cleaned(error.what()));
    }
  }

  // A graph output stays the output of a node: nobody expects to find it among the initializers.
  bool keep_constant(const std::string& name, ConstantTensor value) {
    add_constant(name, value);
    if (outputs_.contains(name)) return false;
    folded_.push_back({name, std::move(value), true});
    return true;
  }

  Result<bool> visit_dims(const Node& node) {
    KF_TRY_VOID(check_kforge_node(node));
    KF_TRY(std::vector<std::int64_t> values, evaluate_dims(node, dims_));
    if (dims_) return keep_constant(node.outputs[0], int64_vector(values));
    TensorType type{DType::kInt64, {Dim{static_cast<std::int64_t>(values.size()), {}}}};
    set_type(node.outputs[0], type_to_proto(type));
    return false;
  }

  // Reductions of newer opsets have axes as an input, opset 17 as an attribute (ReduceSum excepted).
  Result<void> settle_axes(Node& node) {
    if (!node.domain.empty() || !node.op.starts_with("Reduce") || node.op == "ReduceSum" ||
        node.inputs.size() != 2)
      return {};
    auto axes = constants_.find(node.inputs[1]);
    if (axes == constants_.end())
      return fail("node '{}' ({}): its axes are computed from values; only constant axes are supported",
                  node.name, node.op);
    if (auto values = axes->second.as_int64(); !values.empty()) node.attributes["axes"] = std::move(values);
    node.inputs.pop_back();
    return {};
  }

  // libonnx checks nested graphs itself, but does not know domain kforge.
  static Result<void> check_nested(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      if (node.domain == "kforge") {
        KF_TRY_VOID(check_kforge_node(node));
        if (node.op == "Dims")
          return fail("node '{}': kforge.Dims cannot stand in a nested graph", node.name);
      }
      for (const auto& [name, attribute] : node.attributes)
        if (const Graph* inner = node.graph_attr(name)) KF_TRY_VOID(check_nested(*inner));
    }
    return {};
  }

  Result<void> check_node(const Node& node) {
    if (node.domain == "kforge") return check_kforge_node(node);
    for (const auto& [name, attribute] : node.attributes)
      if (const Graph* inner = node.graph_attr(name)) KF_TRY_VOID(check_nested(*inner));
    onnx::checker::check_node(node_to_proto(node), checker_, scope_);
    return {};
  }

  std::optional<ConstantTensor> fold(const Node& node) {
    std::vector<const ConstantTensor*> inputs;
    std::vector<std::optional<TensorType>> input_types;
    for (const std::string& input : node.inputs) {
      auto constant = constants_.find(input);
      inputs.push_back(constant == constants_.end() ? nullptr : &constant->second);
      auto type = types_.find(input);
      input_types.emplace_back();
      if (type != types_.end())
        if (auto ours = type_from_proto(*type->second, input)) input_types.back() = std::move(*ours);
    }
    return fold_node(node, inputs, input_types);
  }

  Result<void> infer_kforge(const Node& node) {
    std::vector<std::optional<TensorType>> known;
    for (const std::string& input : node.inputs) {
      auto type = types_.find(input);
      known.emplace_back();
      if (type != types_.end()) {
        KF_TRY(known.back(), type_from_proto(*type->second, input));
      }
    }
    std::vector<const TensorType*> inputs;
    for (const auto& type : known) inputs.push_back(type ? &*type : nullptr);
    KF_TRY(std::optional<TensorType> type, infer_kforge_type(node, inputs));
    if (type) set_type(node.outputs[0], type_to_proto(*type));
    return {};
  }

  Result<void> infer(const Node& node) {
    if (node.domain == "kforge") return infer_kforge(node);
    onnx::NodeProto proto = node_to_proto(node);
    onnx::shape_inference::InferenceContextImpl context(proto, types_, data_, {}, &shape_data_, &context_);
    const auto* schema =
        onnx::OpSchemaRegistry::Schema(node.op, node.domain.empty() ? kOpset : 100, node.domain);
    if (!schema)
      return fail("node '{}': operator {} of domain '{}' is not known", node.name, node.op, node.domain);
    schema->GetTypeAndShapeInferenceFunction()(context);
    KF_TRY_VOID(check_type_constraints(node, *schema, context));
    if (schema->has_data_propagation_function()) {
      onnx::shape_inference::DataPropagationContextImpl propagation(proto, types_, data_, shape_data_);
      schema->GetDataPropagationFunction()(propagation);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      onnx::TypeProto* type = context.getOutputType(i);
      if (type->value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
      if (type->value_case() == onnx::TypeProto::kTensorType && type->tensor_type().elem_type() == 0)
        continue;
      KF_TRY(TensorType checked, type_from_proto(*type, node.outputs[i]));
      if (node.op == "Einsum") KF_TRY_VOID(add_einsum_dims(node, checked));
      set_type(node.outputs[i], type_to_proto(checked));
    }
    return {};
  }

  // libonnx tells the number of dimensions only.
  Result<void> add_einsum_dims(const Node& node, TensorType& result) const {
    std::vector<TensorType> inputs;
    for (const std::string& input : node.inputs) {
      const auto type = types_.find(input);
      if (type == types_.end()) return {};
      KF_TRY(TensorType read, type_from_proto(*type->second, input));
      inputs.push_back(std::move(read));
    }
    if (auto dims = einsum_dims(node.string_attr("equation", ""), inputs)) result.dims = std::move(*dims);
    return {};
  }

  Result<void> store_types() {
    graph_.types.clear();
    for (const auto& [name, proto] : types_) {
      KF_TRY(TensorType type, type_from_proto(*proto, name));
      graph_.types[name] = std::move(type);
    }
    for (Value& output : graph_.outputs) {
      auto inferred = graph_.types.find(output.name);
      if (inferred == graph_.types.end()) {
        if (!output.typed) return fail("the type of the graph output '{}' cannot be told", output.name);
        graph_.types[output.name] = output.type;
        continue;
      }
      KF_TRY_VOID(merge_declared(output, inferred->second));
    }
    return {};
  }

  // The file's word and the inferred type of an output must agree; each fills what the other does not know.
  Result<void> merge_declared(Value& output, TensorType& inferred) {
    const TensorType& declared = output.type;
    auto mismatch = [&] {
      return fail("graph output '{}' is declared as {} but computed as {}", output.name, to_string(declared),
                  to_string(inferred));
    };
    if (output.typed && declared.dtype != inferred.dtype) return mismatch();
    output.typed = true;
    if (!inferred.ranked) {
      if (declared.ranked) inferred = declared;
    } else if (declared.ranked) {
      if (declared.dims.size() != inferred.dims.size()) return mismatch();
      for (std::size_t i = 0; i < inferred.dims.size(); ++i) {
        const Dim& said = declared.dims[i];
        Dim& found = inferred.dims[i];
        if (said.known() && found.known() && said.value != found.value) return mismatch();
        if (!found.known() && (said.known() || found.symbol.empty())) found = said;
      }
    }
    // The output keeps the names its author gave its dimensions.
    std::vector<Dim> said = declared.dims;
    output.type = inferred;
    for (std::size_t i = 0; i < std::min(said.size(), output.type.dims.size()); ++i)
      if (!output.type.dims[i].known() && !said[i].symbol.empty()) output.type.dims[i] = said[i];
    return {};
  }

  static std::string cleaned(std::string message) {
    for (char& c : message)
      if (c == '\n') c = ' ';
    if (message.size() > 600) message = message.substr(0, 600) + "...";
    return message;
  }

  Graph& graph_;
  const std::map<std::string, std::int64_t>* dims_;
  std::vector<Initializer> folded_;
  std::unordered_map<std::string, ConstantTensor> constants_;
  std::vector<std::unique_ptr<onnx::TypeProto>> owned_types_;
  std::vector<std::unique_ptr<onnx::TensorProto>> tensors_;
  std::unordered_map<std::string, onnx::TypeProto*> types_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_;
  std::unordered_map<std::string, onnx::TensorShapeProto> shape_data_;
  onnx::shape_inference::SymbolTableImpl symbols_;
  onnx::shape_inference::ModelLocalFunctionsMap no_functions_;
  onnx::shape_inference::GraphInferenceContext context_;
  onnx::checker::CheckerContext checker_;
  onnx::checker::LexicalScopeContext scope_;
  std::unordered_set<std::string> outputs_;
};

}  // namespace

Result<void> infer_types(Graph& graph, const std::map<std::string, std::int64_t>* dims) {
  return Inference(graph, dims).run();
}

}  // namespace kforge
