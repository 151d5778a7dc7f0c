// One row of the tables of join_*.cc: a formula, and what stands for it.
#pragma once

#include <string_view>
#include <vector>

#include "graph/formula_match.h"

namespace kforge {

// Where a formula was found. The new nodes are collected here; the last one's output replaces the formula's.
class JoinSite {
 public:
  JoinSite(const GraphIndex& index, const Node& root, const FormulaMatch& found, std::string prefix);

  const GraphIndex& index() const { return index_; }
  const std::string& root() const { return root_; }  // the value that is replaced
  std::string value(const std::string& variable) const { return found_.values.at(variable); }
  float number(const std::string& name) const { return static_cast<float>(found_.numbers.at(name)); }
  const std::set<const Node*>& calls(const std::string& op) const;

  // An operator whose result is a new value, or (finish) the one that is replaced.
  std::string add(std::string op, std::vector<std::string> inputs, std::map<std::string, Attribute> = {},
                  std::string domain = "");
  bool finish(std::string op, std::string domain, std::vector<std::string> inputs,
              std::map<std::string, Attribute> attributes = {});
  std::string ints(const std::vector<std::int64_t>& values);  // a constant
  std::string ones();                                         // [1], of the root's type
  // `value` as a tensor of this shape; itself where it has it already.
  std::string reshaped(const std::string& value, const Shape& shape);

  std::vector<Node>& nodes() { return nodes_; }
  std::vector<Initializer>& initializers() { return initializers_; }

 private:
  std::string fresh(std::string_view what);

  const GraphIndex& index_;
  const FormulaMatch& found_;
  std::string root_, name_, prefix_;
  std::vector<Node> nodes_;
  std::vector<Initializer> initializers_;
};

struct JoinRule {
  std::string_view formula;
  // Checks what a formula cannot say (axes, shapes, attributes) and adds the nodes; false: not this operator.
  bool (*build)(JoinSite& site);
};

// In the order in which they are tried: larger formulas before their own parts.
const std::vector<JoinRule>& norm_rules();
const std::vector<JoinRule>& activation_rules();

}  // namespace kforge
