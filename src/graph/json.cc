// to_json: the graph for readers in other languages.
#include <nlohmann/json.hpp>

#include "graph/graph.h"

namespace kforge {
namespace {

using nlohmann::json;

json type_json(const TensorType& type) {
  json dims = json::array();
  for (const Dim& dim : type.dims) {
    if (dim.known())
      dims.push_back(dim.value);
    else
      dims.push_back(dim.symbol.empty() ? json() : json(dim.symbol));
  }
  return {{"dtype", name_of(type.dtype)}, {"shape", type.ranked ? dims : json()}};
}

json graph_json(const Graph& graph);

// Constants are small (weights are initializers), so their values are written out.
json tensor_json(const ConstantTensor& tensor) {
  json out = {{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}};
  if (tensor.dtype == DType::kString)
    out["values"] = tensor.strings;
  else if (is_float(tensor.dtype))
    out["values"] = tensor.as_double();
  else
    out["values"] = tensor.as_int64();
  return out;
}

json attribute_json(const Attribute& attribute) {
  if (auto* tensor = std::get_if<ConstantTensor>(&attribute)) return tensor_json(*tensor);
  if (auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute)) return graph_json(**graph);
  return std::visit(
      [](const auto& value) -> json {
        if constexpr (requires { json(value); } &&
                      !std::is_same_v<std::decay_t<decltype(value)>, ConstantTensor> &&
                      !std::is_same_v<std::decay_t<decltype(value)>, std::shared_ptr<const Graph>>)
          return json(value);
        else
          return {};
      },
      attribute);
}

json graph_json(const Graph& graph) {
  json out = {{"name", graph.name},       {"inputs", json::array()},
              {"outputs", json::array()}, {"initializers", json::array()},
              {"nodes", json::array()},   {"types", json::object()}};
  auto value_json = [](const Value& value) {
    json one = type_json(value.type);
    one["name"] = value.name;
    return one;
  };
  for (const Value& value : graph.inputs) out["inputs"].push_back(value_json(value));
  for (const Value& value : graph.outputs) out["outputs"].push_back(value_json(value));
  for (const Initializer& initializer : graph.initializers) {
    json one = initializer.folded
                   ? tensor_json(initializer.tensor)
                   : json{{"dtype", name_of(initializer.tensor.dtype)}, {"shape", initializer.tensor.shape}};
    one["name"] = initializer.name;
    one["folded"] = initializer.folded;
    out["initializers"].push_back(std::move(one));
  }
  for (const Node& node : graph.nodes) {
    json attributes = json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = attribute_json(value);
    out["nodes"].push_back({{"name", node.name},
                            {"op", node.op},
                            {"domain", node.domain},
                            {"inputs", node.inputs},
                            {"outputs", node.outputs},
                            {"attributes", std::move(attributes)}});
  }
  for (const auto& [name, type] : graph.types) out["types"][name] = type_json(type);
  return out;
}

}  // namespace

std::string to_json(const Graph& graph) {
  return graph_json(graph).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace kforge
