// load_graph and parse_graph_text: the order of the passes.
#include <filesystem>

#include "graph/folded_inputs.h"
#include "graph/graph.h"
#include "graph/infer.h"
#include "graph/inline_functions.h"
#include "graph/order.h"
#include "graph/proto_graph.h"
#include "graph/read_model.h"
#include "graph/sanitise.h"
#include "graph/upgrade.h"

namespace kforge {
namespace {

constexpr int kNewestOpset = 28;

// Version of ONNX's own operators that the imports name; `otherwise` when they do not.
template <class Imports>
Result<int> opset_of(const Imports& imports, int otherwise) {
  // Imports of other domains alone: no operator of ONNX's own is there, so any version will do.
  std::int64_t version = imports.empty() ? otherwise : 17;
  for (const auto& import : imports)
    if (import.domain().empty() || import.domain() == "ai.onnx") version = import.version();
  if (version < 1) return fail("the file does not say which opset its operators are from");
  if (version > kNewestOpset)
    return fail("opset {} is newer than the newest KForge reads ({})", version, kNewestOpset);
  return static_cast<int>(version);
}

// Functions are expanded and operators brought to opset 17. Where a function is of another opset than the
// graph it is brought there by itself first; otherwise expanding first lets a rewrite see constants given
// from outside.
Result<void> expand_and_upgrade(onnx::ModelProto& model) {
  // IR 1 and 2 had no imports: everything was opset 1.
  KF_TRY(int opset, opset_of(model.opset_import(), model.ir_version() < 3 ? 1 : 0));
  bool mixed = false;
  std::set<std::pair<std::string, std::string>> functions;
  for (const auto& function : model.functions()) {
    functions.insert({function.domain(), function.name()});
    KF_TRY(int own, opset_of(function.opset_import(), opset));
    mixed |= own != opset;
  }
  if (!mixed) {
    KF_TRY_VOID(inline_functions(model));
    return upgrade_to_opset17(*model.mutable_graph(), opset);
  }
  KF_TRY_VOID(upgrade_to_opset17(*model.mutable_graph(), opset, functions));
  for (auto& function : *model.mutable_functions()) {
    KF_TRY(int own, opset_of(function.opset_import(), opset));
    onnx::GraphProto body;
    body.mutable_node()->Swap(function.mutable_node());
    KF_TRY_VOID(upgrade_to_opset17(body, own, functions));
    body.mutable_node()->Swap(function.mutable_node());
  }
  return inline_functions(model);
}

Result<Graph> canonical_graph(onnx::ModelProto& model, const std::filesystem::path& folder) {
  KF_TRY_VOID(expand_and_upgrade(model));
  sanitise_names(*model.mutable_graph());
  KF_TRY(Graph graph, graph_from_proto(model.graph(), folder));
  model.Clear();  // weights are in memory once, not twice, from here on
  KF_TRY_VOID(sort_nodes(graph));
  KF_TRY_VOID(infer_types(graph, nullptr));
  mark_folded_initializers(graph);
  return graph;
}

Result<Graph> with_name(Result<Graph> graph, std::string_view name) {
  if (!graph) graph.error().message = fmt::format("{}: {}", name, graph.error().message);
  return graph;
}

}  // namespace

Result<Graph> load_graph(const std::string& path) {
  KF_TRY(onnx::ModelProto model, read_model_file(path));
  return with_name(canonical_graph(model, std::filesystem::absolute(path).parent_path()), path);
}

Result<Graph> parse_graph_text(std::string_view text, std::string_view name_for_messages) {
  KF_TRY(onnx::ModelProto model, read_model_text(text, name_for_messages));
  return with_name(canonical_graph(model, {}), name_for_messages);
}

}  // namespace kforge
