// Which numbers of a graph follow a number of the file it was exported from: seen by exporting it twice.
#pragma once

#include <expected>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "graph/graph.h"

namespace kforge {

// Where a symbol stands in a graph.
struct SymbolPlaces {
  std::set<std::pair<std::string, std::size_t>> dims;      // of inputs: name, axis
  std::set<std::pair<std::string, std::size_t>> elements;  // of integer initializers: name, element
  std::set<std::pair<std::string, std::size_t>> follow;    // elements that change with it in another way
  std::set<std::pair<std::string, std::size_t>> tables;   // of initializers that repeat one value: name, axis
  std::set<std::pair<std::string, std::size_t>> outputs;  // output dimensions that change with it
};

// `base` and `other` are one module exported with a number of the file at `base_value` and at `other_value`.
// The text says what makes them different programs: the number is part of the computation, not a size.
std::expected<SymbolPlaces, std::string> places_of_symbol(const Graph& base, std::int64_t base_value,
                                                          const Graph& other, std::int64_t other_value);

// The base with symbols in these places. An element that follows in another way is left for the operator to
// infer where that is a target of Reshape; otherwise the text names a symbol that cannot be one, first, and
// why.
std::expected<Graph, std::pair<std::string, std::string>> with_symbols(
    const Graph& base, const std::map<std::string, SymbolPlaces>& symbols);

}  // namespace kforge
