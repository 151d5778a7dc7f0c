#include "import/unify.h"

#include <algorithm>
#include <vector>

#include "base/overloaded.h"

namespace kforge {
namespace {

bool equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      Overloaded{[&](const ConstantTensor& tensor) {
                   const auto& other = std::get<ConstantTensor>(b);
                   return tensor.dtype == other.dtype && tensor.shape == other.shape &&
                          tensor.data == other.data && tensor.strings == other.strings;
                 },
                 [&](const std::shared_ptr<const Graph>& graph) {
                   const auto& other = std::get<std::shared_ptr<const Graph>>(b);
                   return to_json(*graph) == to_json(*other);
                 },
                 [&](const auto& value) { return value == std::get<std::decay_t<decltype(value)>>(b); }},
      a);
}

// The first thing that tells two nodes apart; "" for none.
std::string difference(const Node& a, const Node& b) {
  if (a.op != b.op || a.domain != b.domain) return fmt::format("{} becomes {}", a.op, b.op);
  if (a.inputs != b.inputs || a.outputs != b.outputs) return fmt::format("{} gets other inputs", a.op);
  for (const auto& [name, value] : a.attributes) {
    auto found = b.attributes.find(name);
    if (found == b.attributes.end() || !equal(value, found->second))
      return fmt::format("attribute {} of {} follows it", name, a.op);
  }
  return a.attributes.size() == b.attributes.size() ? "" : fmt::format("attributes of {} change", a.op);
}

using Places = std::set<std::pair<std::string, std::size_t>>;

std::string compare_dims(const std::vector<Value>& base, const std::vector<Value>& other, auto&& changed) {
  if (base.size() != other.size()) return "there are more or fewer tensors";
  for (std::size_t i = 0; i < base.size(); ++i) {
    const TensorType &a = base[i].type, &b = other[i].type;
    if (base[i].name != other[i].name || a.dtype != b.dtype || a.dims.size() != b.dims.size())
      return fmt::format("{} becomes another tensor", base[i].name);
    for (std::size_t axis = 0; axis < a.dims.size(); ++axis)
      if (a.dims[axis].value != b.dims[axis].value || a.dims[axis].symbol != b.dims[axis].symbol)
        if (std::string why = changed(base[i].name, axis, a.dims[axis].value, b.dims[axis].value);
            !why.empty())
          return why;
  }
  return "";
}

bool is_reshape_target(const Graph& graph, const std::string& name) {
  bool used = false;
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != name) continue;
      if (node.op != "Reshape" || i != 1) return false;
      used = true;
    }
  return used;
}

// A table of one value over and over, such as zeros to begin with.
bool repeats_one_value(const ConstantTensor& tensor) {
  std::size_t size = size_of(tensor.dtype);
  if (size == 0 || tensor.data.size() < size) return false;
  for (std::size_t i = size; i < tensor.data.size(); ++i)
    if (tensor.data[i] != tensor.data[i - size]) return false;
  return true;
}

// Why `b` is not `a` in another size; "" where it is.
std::string compare_tables(const Initializer& a, const Initializer& b, std::int64_t base_value,
                           std::int64_t other_value, SymbolPlaces& places) {
  const ConstantTensor &x = a.tensor, &y = b.tensor;
  std::string why = fmt::format("the table {} changes with it", a.name);
  std::size_t size = size_of(x.dtype);
  if (a.name != b.name || x.dtype != y.dtype || x.shape.size() != y.shape.size() || !repeats_one_value(x) ||
      !repeats_one_value(y) ||
      !std::equal(x.data.begin(), x.data.begin() + static_cast<long>(size), y.data.begin()))
    return why;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    if (x.shape[axis] == y.shape[axis]) continue;
    if (x.shape[axis] != base_value || y.shape[axis] != other_value) return why;
    places.tables.emplace(a.name, axis);
  }
  return "";
}

// Dimensions as text: a symbol, or the number that stands there.
Node dims_node(const std::string& output, std::vector<std::string> of) {
  Node node;
  node.name = "Dims_" + output;
  node.op = "Dims";
  node.domain = "kforge";
  node.outputs = {output};
  node.attributes["of"] = std::move(of);
  return node;
}

using Refused = std::pair<std::string, std::string>;

// An integer initializer some of whose elements are symbols, as nodes that compute it.
std::expected<std::vector<Node>, Refused> computed(const Graph& base, const Initializer& initializer,
                                                   const std::map<std::size_t, std::string>& symbols,
                                                   const std::map<std::size_t, std::string>& inferred) {
  std::vector<std::string> of;
  for (std::int64_t element : initializer.tensor.as_int64()) of.push_back(std::to_string(element));
  for (const auto& [element, symbol] : symbols) of[element] = symbol;
  if (!inferred.empty()) {
    const std::string& culprit = inferred.begin()->second;
    bool can = inferred.size() == 1 && is_reshape_target(base, initializer.name) &&
               std::ranges::count(of, "-1") == 0;
    if (!can) return std::unexpected(Refused{culprit, "sizes inside the graph are computed from it"});
    of[inferred.begin()->first] = "-1";
  }
  if (initializer.tensor.dtype != DType::kInt64)
    return std::unexpected(Refused{symbols.empty() ? inferred.begin()->second : symbols.begin()->second,
                                   "a number of a narrow type follows it"});
  if (initializer.tensor.shape.size() == 1) return std::vector{dims_node(initializer.name, of)};
  if (!initializer.tensor.shape.empty())
    return std::unexpected(Refused{symbols.begin()->second, "a table inside the graph follows it"});
  Node squeeze;
  squeeze.name = "Scalar_" + initializer.name;
  squeeze.op = "Squeeze";
  squeeze.inputs = {initializer.name + "_vector"};
  squeeze.outputs = {initializer.name};
  return std::vector{dims_node(initializer.name + "_vector", of), squeeze};
}

// A table that repeats one value, its size computed: the value as an initializer of its own, and nodes.
std::vector<Node> expanded(Initializer& initializer, const std::map<std::size_t, std::string>& axes) {
  std::vector<std::string> of;
  for (std::int64_t dim : initializer.tensor.shape) of.push_back(std::to_string(dim));
  for (const auto& [axis, symbol] : axes) of[axis] = symbol;
  Node expand;
  expand.name = "Expand_" + initializer.name;
  expand.op = "Expand";
  expand.outputs = {initializer.name};
  expand.inputs = {initializer.name + "_value", initializer.name + "_shape"};
  initializer.name += "_value";
  initializer.tensor.shape.clear();
  initializer.tensor.data.resize(size_of(initializer.tensor.dtype));
  return {dims_node(expand.inputs[1], of), expand};
}

}  // namespace

std::expected<SymbolPlaces, std::string> places_of_symbol(const Graph& base, std::int64_t base_value,
                                                          const Graph& other, std::int64_t other_value) {
  SymbolPlaces places;
  std::string why =
      compare_dims(base.inputs, other.inputs,
                   [&](const std::string& name, std::size_t axis, std::int64_t a, std::int64_t b) {
                     if (a != base_value || b != other_value)
                       return fmt::format("a dimension of {} is computed from it", name);
                     places.dims.emplace(name, axis);
                     return std::string();
                   });
  if (!why.empty()) return std::unexpected(why);
  if (base.nodes.size() != other.nodes.size()) return std::unexpected("the graph gets other operators");
  for (std::size_t i = 0; i < base.nodes.size(); ++i)
    if (std::string text = difference(base.nodes[i], other.nodes[i]); !text.empty())
      return std::unexpected(text);
  if (base.initializers.size() != other.initializers.size())
    return std::unexpected("the graph gets other constants");
  for (std::size_t i = 0; i < base.initializers.size(); ++i) {
    const Initializer &a = base.initializers[i], &b = other.initializers[i];
    if (a.name != b.name || a.tensor.dtype != b.tensor.dtype || a.tensor.shape != b.tensor.shape) {
      if (std::string text = compare_tables(a, b, base_value, other_value, places); !text.empty())
        return std::unexpected(text);
      continue;
    }
    if (a.tensor.data == b.tensor.data && a.tensor.strings == b.tensor.strings) continue;
    if (is_float(a.tensor.dtype)) return std::unexpected("a constant is computed from it");
    auto before = a.tensor.as_int64(), after = b.tensor.as_int64();
    for (std::size_t element = 0; element < before.size(); ++element)
      if (before[element] != after[element])
        (before[element] == base_value && after[element] == other_value ? places.elements : places.follow)
            .emplace(a.name, element);
  }
  (void)compare_dims(base.outputs, other.outputs,
                     [&](const std::string& name, std::size_t axis, std::int64_t, std::int64_t) {
                       places.outputs.emplace(name, axis);
                       return std::string();
                     });
  if (places.dims.empty()) return std::unexpected("no size of an input or weight is this number");
  return places;
}

std::expected<Graph, Refused> with_symbols(const Graph& base,
                                           const std::map<std::string, SymbolPlaces>& symbols) {
  Graph graph = base;
  auto dim_at = [](std::vector<Value>& values, const std::string& name, std::size_t axis) -> Dim& {
    return std::ranges::find(values, name, &Value::name)->type.dims[axis];
  };
  std::map<std::string, std::map<std::size_t, std::string>> elements, inferred, tables;
  for (const auto& [symbol, places] : symbols) {
    for (const auto& [name, axis] : places.dims) {
      Dim& dim = dim_at(graph.inputs, name, axis);
      if (!dim.symbol.empty())
        return std::unexpected(
            Refused{symbol, fmt::format("a dimension of {} is also {}", name, dim.symbol)});
      dim = {-1, symbol};
    }
    for (const auto& [name, axis] : places.outputs) dim_at(graph.outputs, name, axis) = {};
    for (const auto& [name, element] : places.follow) inferred[name].try_emplace(element, symbol);
    for (const auto& [name, axis] : places.tables)
      if (auto [place, is_new] = tables[name].try_emplace(axis, symbol); !is_new)
        return std::unexpected(Refused{symbol, "a size inside the graph follows two numbers"});
    for (const auto& [name, element] : places.elements)
      if (auto [place, is_new] = elements[name].try_emplace(element, symbol); !is_new)
        return std::unexpected(Refused{symbol, "a size inside the graph follows two numbers"});
  }
  std::vector<Node> made;
  std::vector<Initializer> kept;
  for (Initializer& initializer : graph.initializers) {
    if (auto table = tables.find(initializer.name); table != tables.end()) {
      std::vector<Node> nodes = expanded(initializer, table->second);
      made.insert(made.end(), nodes.begin(), nodes.end());
      kept.push_back(std::move(initializer));
      continue;
    }
    if (!elements.contains(initializer.name) && !inferred.contains(initializer.name)) {
      kept.push_back(std::move(initializer));
      continue;
    }
    auto nodes = computed(base, initializer, elements[initializer.name], inferred[initializer.name]);
    if (!nodes) return std::unexpected(nodes.error());
    made.insert(made.end(), nodes->begin(), nodes->end());
  }
  graph.initializers = std::move(kept);
  graph.nodes.insert(graph.nodes.begin(), made.begin(), made.end());
  graph.types.clear();  // inferred anew when the graph is read
  return graph;
}

}  // namespace kforge
