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

Result<Graph> canonical_graph(onnx::ModelProto& model, const std::filesystem::path& folder) {
  KF_TRY_VOID(inline_functions(model));
  KF_TRY_VOID(upgrade_to_opset17(model));
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
