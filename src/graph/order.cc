#include "graph/order.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace kforge {
namespace {

using Names = std::unordered_set<std::string>;

// Names a nested graph takes from outside it, nested deeper ones included.
void add_captured(const Graph& graph, std::vector<std::string>& out) {
  Names own;
  for (const Value& input : graph.inputs) own.insert(input.name);
  for (const Initializer& initializer : graph.initializers) own.insert(initializer.name);
  for (const Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string> used;
  for (const Value& output : graph.outputs) used.push_back(output.name);
  for (const Node& node : graph.nodes) {
    used.insert(used.end(), node.inputs.begin(), node.inputs.end());
    for (const auto& [name, attribute] : node.attributes)
      if (const Graph* inner = node.graph_attr(name)) add_captured(*inner, used);
  }
  for (std::string& name : used)
    if (!name.empty() && !own.contains(name)) out.push_back(std::move(name));
}

// Names visible in a graph: its own and, through the chain, those of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  Names own;

  bool has(const std::string& name) const { return own.contains(name) || (outer && outer->has(name)); }
};

Result<void> sort_scope(Graph& graph, const Scope* outer);

// Nested graphs are shared as const; a sorted copy takes the place of each.
Result<void> sort_nested(Node& node, const Scope* visible) {
  for (auto& [name, attribute] : node.attributes) {
    auto* shared = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (!shared) continue;
    Graph inner = **shared;
    KF_TRY_VOID(sort_scope(inner, visible));
    *shared = std::make_shared<const Graph>(std::move(inner));
  }
  return {};
}

Result<void> sort_scope(Graph& graph, const Scope* outer) {
  Scope scope{outer, {}};
  auto define = [&](const std::string& name, std::string_view what) -> Result<void> {
    if (name.empty()) return fail("{} without a name", what);
    if (!scope.own.insert(name).second) return fail("the value '{}' is defined twice", name);
    return {};
  };
  for (const Value& input : graph.inputs) KF_TRY_VOID(define(input.name, "a graph input"));
  for (const Initializer& initializer : graph.initializers)
    KF_TRY_VOID(define(initializer.name, "an initializer"));

  std::unordered_map<std::string, std::size_t> producer;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& output : graph.nodes[i].outputs)
      if (!output.empty()) {
        KF_TRY_VOID(define(output, "an output"));
        producer[output] = i;
      }

  std::vector<std::vector<std::size_t>> users(graph.nodes.size());
  std::vector<std::size_t> waiting(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::vector<std::string> used = node.inputs;
    for (const auto& [name, attribute] : node.attributes)
      if (const Graph* inner = node.graph_attr(name)) add_captured(*inner, used);
    for (const std::string& input : used) {
      if (input.empty()) continue;
      if (!scope.has(input))
        return fail("node '{}' ({}) uses '{}', which nothing defines", node.name, node.op, input);
      if (auto made = producer.find(input); made != producer.end()) {
        users[made->second].push_back(i);
        ++waiting[i];
      }
    }
  }
  for (const Value& output : graph.outputs)
    if (!scope.has(output.name)) return fail("nothing computes the graph output '{}'", output.name);

  // Kahn's algorithm; among ready nodes the file's order is kept.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<Node> sorted;
  std::vector<bool> done(graph.nodes.size());
  while (!ready.empty()) {
    std::size_t next = ready.top();
    ready.pop();
    done[next] = true;
    for (std::size_t user : users[next])
      if (--waiting[user] == 0) ready.push(user);
    sorted.push_back(std::move(graph.nodes[next]));
  }
  if (sorted.size() != graph.nodes.size())
    for (std::size_t i = 0; i < done.size(); ++i)
      if (!done[i])
        return fail("the graph has a cycle through node '{}' ({})", graph.nodes[i].name, graph.nodes[i].op);
  graph.nodes = std::move(sorted);
  for (Node& node : graph.nodes) KF_TRY_VOID(sort_nested(node, &scope));
  return {};
}

}  // namespace

Result<void> sort_nodes(Graph& graph) { return sort_scope(graph, nullptr); }

}  // namespace kforge
