#include "import/exported_graph.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace kforge {
namespace {

bool has_nested_graphs(const Graph& graph) {
  for (const Node& node : graph.nodes)
    for (const auto& [name, value] : node.attributes)
      if (std::holds_alternative<std::shared_ptr<const Graph>>(value)) return true;
  return false;
}

// A batch's own statistics are used: what goes in for the running ones does not reach the result. (The
// operator demands something of their shape.)
void forget_running_averages(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.op != "BatchNormalization" || node.int_attr("training_mode", 0) != 1 || node.inputs.size() != 5)
      continue;
    node.inputs[3] = node.inputs[2];
    node.inputs[4] = node.inputs[1];
    node.outputs.resize(3);  // the new averages: nobody reads them
  }
}

std::set<std::string> used_values(const Graph& graph) {
  std::set<std::string> used;
  for (const Node& node : graph.nodes) {
    used.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& [name, value] : node.attributes)
      if (auto* nested = std::get_if<std::shared_ptr<const Graph>>(&value)) used.merge(used_values(**nested));
  }
  for (const Value& output : graph.outputs) used.insert(output.name);
  return used;
}

std::set<std::string> all_names(const Graph& graph) {
  std::set<std::string> names;
  for (const Value& input : graph.inputs) names.insert(input.name);
  for (const Initializer& one : graph.initializers) names.insert(one.name);
  for (const Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

void rename_value(Graph& graph, const std::string& from, const std::string& to) {
  auto swap = [&](std::string& name) {
    if (name == from) name = to;
  };
  for (Value& value : graph.inputs) swap(value.name);
  for (Value& value : graph.outputs) swap(value.name);
  for (Initializer& one : graph.initializers) swap(one.name);
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, swap);
    std::ranges::for_each(node.outputs, swap);
  }
}

// Names as a reader expects them: conv_weight, not module_conv_weight; y, not 11.
void name_plainly(ExportedGraph& exported) {
  Graph& graph = exported.graph;
  if (has_nested_graphs(graph)) return;
  std::set<std::string> taken = all_names(graph);
  auto rename = [&](const std::string& from, const std::string& to) {
    if (from == to || !taken.insert(to).second) return false;
    rename_value(graph, from, to);
    taken.erase(from);
    return true;
  };
  std::map<std::string, std::size_t> renamed;
  for (const auto& [name, index] : exported.states) {
    std::string plain = name.substr(std::strlen("module_"));
    bool usable = !plain.empty() && !std::isdigit(static_cast<unsigned char>(plain[0]));
    renamed[usable && rename(name, plain) ? plain : name] = index;
  }
  exported.states = std::move(renamed);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    std::string old = graph.outputs[i].name;
    bool made_here = std::ranges::any_of(graph.nodes, [&](const Node& node) {
      return std::ranges::find(node.outputs, old) != node.outputs.end();
    });
    if (made_here) rename(old, graph.outputs.size() == 1 ? "y" : fmt::format("y{}", i));
  }
}

}  // namespace

Result<ExportedGraph> tidy_export(Graph loaded, const ModuleFacts& facts) {
  forget_running_averages(loaded);
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < facts.states.size(); ++i) {
    std::string name = "module_" + facts.states[i].name;
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    if (!by_name.emplace(name, i).second)
      return fail("two weights of the module have nearly the same name: {}", facts.states[i].name);
  }
  ExportedGraph exported;
  std::set<std::string> used = used_values(loaded);
  std::vector<Value> inputs;
  std::size_t own = 0;
  for (Value& input : loaded.inputs) {
    auto state = by_name.find(input.name);
    if (state == by_name.end()) {
      ++own;
    } else if (!used.contains(input.name)) {
      continue;
    } else {
      exported.states[input.name] = state->second;
    }
    inputs.push_back(std::move(input));
  }
  if (own > facts.inputs.size())
    return fail("the exported graph has {} inputs that the module does not have", own - facts.inputs.size());
  loaded.inputs = std::move(inputs);
  std::erase_if(loaded.inputs, [&](const Value& input) {
    return !exported.states.contains(input.name) && !used.contains(input.name);
  });
  exported.graph = std::move(loaded);
  name_plainly(exported);
  return exported;
}

void give_values(Graph& graph, const std::string& input, DType dtype, const Shape& shape,
                 std::string_view data) {
  std::erase_if(graph.inputs, [&](const Value& value) { return value.name == input; });
  Initializer initializer;
  initializer.name = input;
  initializer.tensor.dtype = dtype;
  initializer.tensor.shape = shape;
  initializer.tensor.data.resize(data.size());
  if (!data.empty()) std::memcpy(initializer.tensor.data.data(), data.data(), data.size());
  graph.initializers.push_back(std::move(initializer));
}

}  // namespace kforge
