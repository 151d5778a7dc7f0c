// Finds a formula in a graph, however the exporter ordered and nested its operators.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/formula.h"
#include "graph/graph.h"

namespace kforge {

// Who makes and who reads each value of a graph. The graph must outlive it and stay as it is.
class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node* producer(const std::string& value) const;  // null: an input, an initializer
  int uses(const std::string& value) const;              // by nodes, nested graphs and as graph output
  // The tensor where the value is a constant of the computation, not an argument.
  const ConstantTensor* constant(const std::string& value) const;
  std::optional<double> scalar(const std::string& value) const;  // such a constant of one element
  const TensorType* type(const std::string& value) const;
  std::optional<Shape> shape(const std::string& value) const;  // nothing unless every dimension is known

 private:
  void count_uses(const Node& node);

  const Graph& graph_;
  std::unordered_map<std::string, const Node*> producers_;
  std::unordered_map<std::string, int> uses_;
  std::unordered_map<std::string, const Initializer*> initializers_;
};

struct FormulaMatch {
  std::map<std::string, std::string> values;  // variable to value of the graph
  std::map<std::string, double> numbers;      // @name to number
  std::set<const Node*> nodes;                // that the formula covers; nobody else reads what they make
  std::map<std::string, std::set<const Node*>> calls;  // operator to the nodes it was found at
};

// The formula with the value as its result; nothing where it differs anywhere: an operator, a number beyond
// the rounding of its type, or a value inside of it that somebody else reads as well.
std::optional<FormulaMatch> match_formula(const GraphIndex& index, const Formula& formula,
                                          const std::string& value);

}  // namespace kforge
