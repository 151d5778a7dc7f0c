#include "graph/join.h"

#include <algorithm>
#include <cstring>

#include "graph/infer.h"
#include "graph/join_rule.h"
#include "graph/tensor_proto.h"

namespace kforge {

JoinSite::JoinSite(const GraphIndex& index, const Node& root, const FormulaMatch& found, std::string prefix)
    : index_(index), found_(found), root_(root.outputs[0]), name_(root.name), prefix_(std::move(prefix)) {}

const std::set<const Node*>& JoinSite::calls(const std::string& op) const {
  static const std::set<const Node*> none;
  auto found = found_.calls.find(op);
  return found == found_.calls.end() ? none : found->second;
}

std::string JoinSite::fresh(std::string_view what) {
  return fmt::format("{}{}_{}", prefix_, what, nodes_.size() + initializers_.size());
}

std::string JoinSite::add(std::string op, std::vector<std::string> inputs,
                          std::map<std::string, Attribute> attributes, std::string domain) {
  std::string output = fresh(op);
  nodes_.push_back(
      {output, std::move(op), std::move(domain), std::move(inputs), {output}, std::move(attributes)});
  return output;
}

bool JoinSite::finish(std::string op, std::string domain, std::vector<std::string> inputs,
                      std::map<std::string, Attribute> attributes) {
  nodes_.push_back(
      {name_, std::move(op), std::move(domain), std::move(inputs), {root_}, std::move(attributes)});
  return true;
}

std::string JoinSite::ints(const std::vector<std::int64_t>& values) {
  std::string name = fresh("shape");
  initializers_.push_back({name, int64_vector(values), true});
  return name;
}

std::string JoinSite::ones() {
  DType dtype = index_.type(root_)->dtype;
  ConstantTensor tensor{dtype, {1}, std::vector<std::byte>(size_of(dtype)), {}};
  auto store = [&](auto one) { std::memcpy(tensor.data.data(), &one, sizeof one); };
  if (dtype == DType::kFloat64)
    store(1.0);
  else if (dtype == DType::kFloat16)
    store(std::uint16_t{0x3c00});
  else if (dtype == DType::kBFloat16)
    store(std::uint16_t{0x3f80});
  else
    store(1.0f);
  std::string name = fresh("one");
  initializers_.push_back({name, std::move(tensor), true});
  return name;
}

std::string JoinSite::reshaped(const std::string& value, const Shape& shape) {
  return index_.shape(value) == shape ? value : add("Reshape", {value, ints(shape)});
}

namespace {

// The names of new values begin with it, and no other value's does.
std::string prefix_of(std::size_t count, const Graph& graph) {
  std::string prefix = fmt::format("joined{}_", count);
  auto taken = [&] {
    return std::ranges::any_of(graph.types, [&](const auto& type) { return type.first.starts_with(prefix); });
  };
  while (taken()) prefix = "_" + prefix;
  return prefix;
}

struct ParsedRule {
  FormulaPtr formula;
  bool (*build)(JoinSite&);
};

const std::vector<ParsedRule>& rules() {
  static const std::vector<ParsedRule> parsed = [] {
    std::vector<ParsedRule> all;
    for (const auto* table : {&norm_rules(), &activation_rules()})
      for (const JoinRule& rule : *table) all.push_back({parse_formula(rule.formula), rule.build});
    return all;
  }();
  return parsed;
}

// Replaces the last formula of the graph; false when there is none.
bool join_one(Graph& graph, std::size_t& end, std::size_t& count) {
  GraphIndex index(graph);
  for (std::size_t i = std::min(end, graph.nodes.size()); i-- > 0;) {
    const Node& root = graph.nodes[i];
    if (root.outputs.empty() || !index.shape(root.outputs[0]) ||
        !is_float(index.type(root.outputs[0])->dtype))
      continue;
    for (const ParsedRule& rule : rules()) {
      auto found = match_formula(index, *rule.formula, root.outputs[0]);
      if (!found) continue;
      JoinSite site(index, root, *found, prefix_of(count, graph));
      if (!rule.build(site)) continue;
      ++count;
      std::vector<Node> kept;
      for (const Node& node : graph.nodes) {
        if (&node == &root)
          for (Node& made : site.nodes()) kept.push_back(std::move(made));
        if (!found->nodes.contains(&node)) kept.push_back(node);
      }
      for (Initializer& made : site.initializers()) graph.initializers.push_back(std::move(made));
      graph.nodes = std::move(kept);
      end = i;
      return true;
    }
  }
  return false;
}

// Numbers of a formula that nobody reads any more. Arguments stay: the kernel gets them anyway.
void drop_unused_constants(Graph& graph) {
  GraphIndex index(graph);
  std::erase_if(graph.initializers,
                [&](const Initializer& one) { return one.folded && index.uses(one.name) == 0; });
}

}  // namespace

Graph join_operators(const Graph& graph) {
  Graph joined = graph;
  std::size_t end = joined.nodes.size(), count = 0;
  while (join_one(joined, end, count)) {
  }
  if (count == 0) return joined;
  drop_unused_constants(joined);
  const std::map<std::string, std::int64_t> no_symbols;
  return infer_types(joined, &no_symbols) ? joined : graph;
}

}  // namespace kforge
