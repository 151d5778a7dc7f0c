#include "graph/formula_match.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kforge {

GraphIndex::GraphIndex(const Graph& graph) : graph_(graph) {
  for (const Initializer& one : graph.initializers) initializers_[one.name] = &one;
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs)
      if (!output.empty()) producers_[output] = &node;
    count_uses(node);
  }
  for (const Value& output : graph.outputs) ++uses_[output.name];
}

void GraphIndex::count_uses(const Node& node) {
  for (const std::string& input : node.inputs) ++uses_[input];
  for (const auto& [name, attribute] : node.attributes)
    if (const Graph* body = node.graph_attr(name)) {
      for (const Node& inner : body->nodes) count_uses(inner);
      for (const Value& output : body->outputs) ++uses_[output.name];
    }
}

const Node* GraphIndex::producer(const std::string& value) const {
  auto found = producers_.find(value);
  return found == producers_.end() ? nullptr : found->second;
}
int GraphIndex::uses(const std::string& value) const {
  auto found = uses_.find(value);
  return found == uses_.end() ? 0 : found->second;
}
const ConstantTensor* GraphIndex::constant(const std::string& value) const {
  auto found = initializers_.find(value);
  return found == initializers_.end() || !found->second->folded ? nullptr : &found->second->tensor;
}
std::optional<double> GraphIndex::scalar(const std::string& value) const {
  const ConstantTensor* tensor = constant(value);
  if (!tensor || element_count(tensor->shape) != 1 || tensor->dtype == DType::kString) return {};
  return tensor->as_double()[0];
}
const TensorType* GraphIndex::type(const std::string& value) const {
  auto found = graph_.types.find(value);
  return found == graph_.types.end() ? nullptr : &found->second;
}
std::optional<Shape> GraphIndex::shape(const std::string& value) const {
  const TensorType* found = type(value);
  return found && found->concrete() ? std::optional(found->shape()) : std::nullopt;
}

namespace {

// A graph's value as coefficient * product of values to some power.
struct GraphProduct {
  double coefficient = 1;
  std::vector<std::pair<std::string, double>> factors;
  std::vector<const Node*> nodes;
};

// A graph's value as a sum of values, each added or taken away.
struct GraphSum {
  double constant = 0;
  std::vector<std::pair<std::string, double>> terms;
  std::vector<const Node*> nodes;
};

bool is_op(const Node* node, std::string_view op) { return node && node->domain.empty() && node->op == op; }

class FormulaMatcher {
 public:
  FormulaMatcher(const GraphIndex& index, const std::string& root) : index_(index) {
    // Constants of a graph in half precision are rounded to it, each of the few of a formula for itself.
    const TensorType* type = index.type(root);
    DType dtype = type ? type->dtype : DType::kFloat32;
    tolerance_ = dtype == DType::kBFloat16 ? 1.0 / 64 : dtype == DType::kFloat16 ? 1.0 / 512 : 1e-6;
  }

  // What stays to be matched after a part has been: permutations are searched with it.
  using Rest = std::function<bool(FormulaMatch&)>;

  // Whether coefficient * value is the formula.
  bool match(const Formula& formula, const std::string& value, double coefficient, FormulaMatch& found,
             const Rest& rest) {
    if (formula.kind == FormulaKind::kVariable && coefficient == 1 && bind(formula.name, value, found, rest))
      return true;
    if (auto inner = without_neutral(value)) {
      FormulaMatch next = found;
      next.nodes.insert(index_.producer(value));
      if (match(formula, *inner, coefficient, next, rest)) return found = std::move(next), true;
    }
    switch (formula.kind) {
      case FormulaKind::kVariable:
        return false;
      case FormulaKind::kNumber: {
        auto number = index_.scalar(value);
        return number && close(*number * coefficient, formula.number) && rest(found);
      }
      case FormulaKind::kCall:
        return coefficient == 1 && match_call(formula, value, found, rest);
      case FormulaKind::kProduct:
        return match_product(formula, value, coefficient, found, rest);
      case FormulaKind::kSum:
        return coefficient == 1 && match_sum(formula, value, found, rest);
    }
    return false;
  }

  // Every value inside of the formula must be its own business, and what it starts from none of them.
  bool is_private(const std::string& root, const FormulaMatch& found) const {
    for (const auto& [name, value] : found.values)
      if (found.nodes.contains(index_.producer(value))) return false;
    std::map<std::string, int> inside;
    for (const Node* node : found.nodes)
      for (const std::string& input : node->inputs) ++inside[input];
    for (const Node* node : found.nodes)
      for (const std::string& output : node->outputs)
        if (!output.empty() && output != root && index_.uses(output) != inside[output]) return false;
    return true;
  }

 private:
  bool close(double a, double b) const { return std::abs(a - b) <= tolerance_ * std::abs(b); }

  bool bind(const std::string& name, const std::string& value, FormulaMatch& found, const Rest& rest) {
    auto bound = found.values.find(name);
    if (bound != found.values.end()) return bound->second == value && rest(found);
    FormulaMatch next = found;
    next.values[name] = value;
    if (!rest(next)) return false;
    found = std::move(next);
    return true;
  }

  // The operand of x + 0, x * 1, x / 1 and Identity: modules without parameters are exported with such.
  std::optional<std::string> without_neutral(const std::string& value) const {
    const Node* node = index_.producer(value);
    if (is_op(node, "Identity")) return node->inputs[0];
    double neutral = is_op(node, "Add") || is_op(node, "Sub") ? 0 : 1;
    if (neutral == 1 && !is_op(node, "Mul") && !is_op(node, "Div")) return {};
    bool either = is_op(node, "Add") || is_op(node, "Mul");
    for (std::size_t i = either ? 0 : 1; i < 2; ++i)
      if (index_.scalar(node->inputs[i]) == neutral &&
          index_.shape(node->inputs[1 - i]) == index_.shape(value))
        return node->inputs[1 - i];
    return {};
  }

  bool match_call(const Formula& formula, const std::string& value, FormulaMatch& found, const Rest& rest) {
    const Node* node = index_.producer(value);
    if (!is_op(node, formula.name) || node->inputs.size() < formula.parts.size()) return false;
    if (node->outputs[0] != value) return false;
    FormulaMatch next = found;
    next.nodes.insert(node);
    next.calls[formula.name].insert(node);
    if (!match_inputs(formula, *node, 0, next, rest)) return false;
    found = std::move(next);
    return true;
  }

  bool match_inputs(const Formula& formula, const Node& node, std::size_t i, FormulaMatch& found,
                    const Rest& rest) {
    if (i == formula.parts.size()) return rest(found);
    return match(*formula.parts[i], node.inputs[i], 1, found,
                 [&, i](FormulaMatch& next) { return match_inputs(formula, node, i + 1, next, rest); });
  }

  // Nested products are opened only where nobody else reads them: what two read is likely a variable.
  void open_product(const std::string& value, double exponent, bool root, GraphProduct& out) const {
    const Node* node = index_.producer(value);
    if (auto number = index_.scalar(value)) {
      out.coefficient *= std::pow(*number, exponent);
      return;
    }
    bool open = node && (root || index_.uses(value) == 1) && std::abs(exponent) == 1;
    if (open && (is_op(node, "Mul") || is_op(node, "Div"))) {
      out.nodes.push_back(node);
      open_product(node->inputs[0], exponent, false, out);
      open_product(node->inputs[1], is_op(node, "Mul") ? exponent : -exponent, false, out);
    } else if (open && is_op(node, "Reciprocal")) {
      out.nodes.push_back(node);
      open_product(node->inputs[0], -exponent, false, out);
    } else if (open && is_op(node, "Neg")) {
      out.nodes.push_back(node);
      out.coefficient = -out.coefficient;
      open_product(node->inputs[0], exponent, false, out);
    } else if (open && is_op(node, "Sqrt")) {
      out.nodes.push_back(node);
      open_product(node->inputs[0], exponent * 0.5, false, out);
    } else if (open && is_op(node, "Pow") && index_.scalar(node->inputs[1])) {
      out.nodes.push_back(node);
      open_product(node->inputs[0], exponent * *index_.scalar(node->inputs[1]), false, out);
    } else {
      for (auto& [name, have] : out.factors)
        if (name == value) {
          have += exponent;
          return;
        }
      out.factors.emplace_back(value, exponent);
    }
  }

  bool match_product(const Formula& formula, const std::string& value, double coefficient,
                     FormulaMatch& found, const Rest& rest) {
    GraphProduct product;
    open_product(value, 1, true, product);
    if (product.nodes.empty() || product.factors.size() != formula.factors.size() ||
        !close(product.coefficient * coefficient, formula.number))
      return false;
    FormulaMatch next = found;
    next.nodes.insert(product.nodes.begin(), product.nodes.end());
    std::vector<bool> used(product.factors.size());
    std::function<bool(std::size_t, FormulaMatch&)> assign = [&](std::size_t i, FormulaMatch& state) {
      if (i == formula.factors.size()) return rest(state);
      for (std::size_t j = 0; j < used.size(); ++j) {
        if (used[j] || product.factors[j].second != formula.factors[i].exponent) continue;
        used[j] = true;
        FormulaMatch tried = state;
        if (match(*formula.factors[i].base, product.factors[j].first, 1, tried,
                  [&](FormulaMatch& deeper) { return assign(i + 1, deeper); }))
          return state = std::move(tried), true;
        used[j] = false;
      }
      return false;
    };
    if (!assign(0, next)) return false;
    found = std::move(next);
    return true;
  }

  void open_sum(const std::string& value, double sign, bool root, GraphSum& out) const {
    const Node* node = index_.producer(value);
    if (auto number = index_.scalar(value)) {
      out.constant += sign * *number;
      return;
    }
    bool open = node && (root || index_.uses(value) == 1);
    if (open && (is_op(node, "Add") || is_op(node, "Sub"))) {
      out.nodes.push_back(node);
      open_sum(node->inputs[0], sign, false, out);
      open_sum(node->inputs[1], is_op(node, "Add") ? sign : -sign, false, out);
    } else {
      out.terms.emplace_back(value, sign);
    }
  }

  bool match_sum(const Formula& formula, const std::string& value, FormulaMatch& found, const Rest& rest) {
    GraphSum sum;
    open_sum(value, 1, true, sum);
    if (sum.nodes.empty() || sum.terms.size() != formula.parts.size()) return false;
    FormulaMatch next = found;
    if (formula.name.empty() ? !close(sum.constant, formula.number)
                             : !next.numbers.try_emplace(formula.name, sum.constant).second &&
                                   next.numbers[formula.name] != sum.constant)
      return false;
    next.nodes.insert(sum.nodes.begin(), sum.nodes.end());
    std::vector<bool> used(sum.terms.size());
    std::function<bool(std::size_t, FormulaMatch&)> assign = [&](std::size_t i, FormulaMatch& state) {
      if (i == formula.parts.size()) return rest(state);
      for (std::size_t j = 0; j < used.size(); ++j) {
        if (used[j]) continue;
        used[j] = true;
        FormulaMatch tried = state;
        // A term that is taken away is one with a coefficient of -1.
        if (match_term(*formula.parts[i], sum.terms[j], tried,
                       [&](FormulaMatch& deeper) { return assign(i + 1, deeper); }))
          return state = std::move(tried), true;
        used[j] = false;
      }
      return false;
    };
    if (!assign(0, next)) return false;
    found = std::move(next);
    return true;
  }

  bool match_term(const Formula& formula, const std::pair<std::string, double>& term, FormulaMatch& found,
                  const Rest& rest) {
    // "- mean" is the product -1 * mean, which has no node of its own in a graph that subtracts.
    if (term.second < 0 && formula.kind == FormulaKind::kProduct && formula.number == -1 &&
        formula.factors.size() == 1 && formula.factors[0].exponent == 1)
      return match(*formula.factors[0].base, term.first, 1, found, rest);
    return match(formula, term.first, term.second, found, rest);
  }

  const GraphIndex& index_;
  double tolerance_ = 0;
};

}  // namespace

std::optional<FormulaMatch> match_formula(const GraphIndex& index, const Formula& formula,
                                          const std::string& value) {
  FormulaMatcher matcher(index, value);
  FormulaMatch found;
  bool matched = matcher.match(formula, value, 1, found,
                               [&](FormulaMatch& whole) { return matcher.is_private(value, whole); });
  return matched ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace kforge
