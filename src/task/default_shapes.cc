#include "task/default_shapes.h"

#include <algorithm>

namespace kforge {
namespace {

struct Guess {
  std::int64_t bench, small, odd;
};

// By position and by the names exporters use.
Guess guess_for(const std::string& symbol, bool leading) {
  std::string lower;
  for (char c : symbol) lower += static_cast<char>(tolower(static_cast<unsigned char>(c)));
  auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (has("batch") || lower == "n" || lower == "b") return {8, 2, 3};
  if (has("height") || has("width") || lower == "h" || lower == "w") return {224, 32, 37};
  if (has("past") || has("seq") || has("len") || has("time") || has("token")) return {128, 8, 13};
  if (leading) return {8, 2, 3};
  return {64, 8, 11};
}

void note_leading(const Graph& graph, std::set<std::string>& leading) {
  for (const Value& input : graph.inputs)
    if (!input.type.dims.empty() && !input.type.dims[0].symbol.empty())
      leading.insert(input.type.dims[0].symbol);
}

}  // namespace

std::set<std::string> symbols_of(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Value& input : graph.inputs)
    for (const Dim& dim : input.type.dims)
      if (!dim.known() && !dim.symbol.empty()) symbols.insert(dim.symbol);
  for (const Node& node : graph.nodes) {
    if (node.domain != "kforge" || node.op != "Dims") continue;
    if (auto* entries = std::get_if<std::vector<std::string>>(&node.attributes.at("of")))
      for (const std::string& entry : *entries)
        if (!entry.empty() && (isalpha(static_cast<unsigned char>(entry[0])) || entry[0] == '_'))
          symbols.insert(entry);
  }
  return symbols;
}

void name_unknown_dims(Graph& graph) {
  std::set<std::string> taken = symbols_of(graph);
  for (Value& input : graph.inputs) {
    for (std::size_t i = 0; i < input.type.dims.size(); ++i) {
      Dim& dim = input.type.dims[i];
      if (dim.known() || !dim.symbol.empty()) continue;
      dim.symbol = fmt::format("{}_{}", input.name, i);
      while (!taken.insert(dim.symbol).second) dim.symbol += "_";
    }
    graph.types[input.name] = input.type;
  }
}

Result<std::map<std::string, std::vector<ShapeCase>>> default_shapes(const Graph& graph) {
  std::set<std::string> leading;
  note_leading(graph, leading);
  std::map<std::string, std::vector<ShapeCase>> sets;
  for (std::string_view set : {"bench", "small", "odd"}) {
    ShapeCase shape_case;
    for (const std::string& symbol : symbols_of(graph)) {
      Guess guess = guess_for(symbol, leading.contains(symbol));
      shape_case.dims[symbol] = set == "bench" ? guess.bench : set == "small" ? guess.small : guess.odd;
    }
    auto bound = bind_dims(graph, shape_case.dims);
    if (!bound && set == "bench") {
      Error error = bound.error();
      error.remedy =
          "the model's symbolic dimensions need numbers that fit: write a task folder with [shapes]";
      return std::unexpected(error);
    }
    if (bound) sets[std::string(set)] = {std::move(shape_case)};
  }
  return sets;
}

}  // namespace kforge
