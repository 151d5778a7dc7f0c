// print_graph: one line per value and node, with shapes, for people and agents.
#include <fmt/ranges.h>

#include "graph/graph.h"

namespace kforge {
namespace {

std::string attribute_text(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(std::int64_t value) { return std::to_string(value); }
    std::string operator()(float value) { return fmt::format("{:g}", value); }
    std::string operator()(const std::string& value) {
      constexpr std::size_t kShown = 200;  // a longer one is a file
      return value.size() <= kShown ? fmt::format("\"{}\"", value)
                                    : fmt::format("{} characters", value.size());
    }
    std::string operator()(const std::vector<std::int64_t>& values) {
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    std::string operator()(const std::vector<float>& values) {
      return fmt::format("[{:g}]", fmt::join(values, ", "));
    }
    std::string operator()(const std::vector<std::string>& values) {
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    std::string operator()(const ConstantTensor& value) {
      return fmt::format("{}{}", name_of(value.dtype), to_string(value.shape));
    }
    std::string operator()(const std::shared_ptr<const Graph>& value) {
      return fmt::format("graph of {} nodes", value->nodes.size());
    }
  };
  return std::visit(Visitor{}, attribute);
}

std::string values_text(const ConstantTensor& tensor) {
  constexpr std::size_t shown = 8;
  auto values = tensor.as_double();
  bool more = values.size() > shown;
  values.resize(std::min(values.size(), shown));
  return fmt::format("{{{:g}{}}}", fmt::join(values, ", "), more ? ", ..." : "");
}

}  // namespace

std::string print_graph(const Graph& graph) {
  std::string out;
  auto type_text = [&](const std::string& name) {
    auto type = graph.types.find(name);
    return type == graph.types.end() ? std::string("?") : to_string(type->second);
  };
  for (const Value& input : graph.inputs)
    out += fmt::format("input   {} : {}\n", input.name, to_string(input.type));
  for (const Initializer& initializer : graph.initializers)
    out += fmt::format("{} {} : {}{} {}\n", initializer.folded ? "const  " : "param  ", initializer.name,
                       name_of(initializer.tensor.dtype), to_string(initializer.tensor.shape),
                       values_text(initializer.tensor));
  for (const Node& node : graph.nodes) {
    std::vector<std::string> outputs, attributes;
    for (const std::string& output : node.outputs)
      if (!output.empty()) outputs.push_back(fmt::format("{} : {}", output, type_text(output)));
    for (const auto& [name, value] : node.attributes)
      attributes.push_back(fmt::format("{} = {}", name, attribute_text(value)));
    out += fmt::format("node    {} = {}{}{}({})\n", fmt::join(outputs, ", "),
                       node.domain.empty() ? "" : node.domain + ".", node.op,
                       attributes.empty() ? "" : fmt::format(" <{}> ", fmt::join(attributes, ", ")),
                       fmt::join(node.inputs, ", "));
  }
  for (const Value& output : graph.outputs)
    out += fmt::format("output  {} : {}\n", output.name, to_string(output.type));
  return out;
}

}  // namespace kforge
