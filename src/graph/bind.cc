// bind_dims: symbols become numbers and everything is inferred again.
#include <algorithm>
#include <set>

#include "graph/graph.h"
#include "graph/infer.h"

namespace kforge {
namespace {

constexpr std::int64_t kElementLimit = std::int64_t{1} << 40;

Result<void> bind_type(const std::string& value, TensorType& type,
                       const std::map<std::string, std::int64_t>& dims) {
  for (Dim& dim : type.dims) {
    if (dim.known()) continue;
    if (dim.symbol.empty()) return fail("'{}' has a dimension without number and symbol", value);
    auto found = dims.find(dim.symbol);
    if (found == dims.end()) return fail("the dimension '{}' of '{}' has no value", dim.symbol, value);
    dim = Dim{found->second, {}};
  }
  if (!type.ranked) return fail("'{}' has an unknown number of dimensions", value);
  return {};
}

// Output dimensions that a shape set names must be what is computed; other symbols are free.
void bind_output(TensorType& type, const std::map<std::string, std::int64_t>& dims) {
  for (Dim& dim : type.dims)
    if (auto found = dims.find(dim.symbol); !dim.known() && found != dims.end()) dim = Dim{found->second, {}};
}

Result<void> check_sizes(const Graph& graph) {
  for (const auto& [name, type] : graph.types) {
    std::int64_t count = 1;
    for (const Dim& dim : type.dims)
      if (__builtin_mul_overflow(count, dim.value, &count) || count > kElementLimit)
        return fail("'{}' would have more than 2^40 elements", name);
  }
  return {};
}

Result<void> check_concrete(const Graph& graph) {
  auto check = [&](const std::string& name, const std::string& where) -> Result<void> {
    auto type = graph.types.find(name);
    if (type == graph.types.end() || !type->second.concrete())
      return fail("the shape of '{}' {} depends on values, not only on shapes ({})", name, where,
                  type == graph.types.end() ? "nothing is known" : to_string(type->second));
    return {};
  };
  for (const Node& node : graph.nodes)
    for (const std::string& output : node.outputs)
      if (!output.empty()) KF_TRY_VOID(check(output, fmt::format("(node '{}', {})", node.name, node.op)));
  for (const Value& output : graph.outputs) KF_TRY_VOID(check(output.name, "(a graph output)"));
  return {};
}

}  // namespace

Result<Graph> bind_dims(const Graph& graph, const std::map<std::string, std::int64_t>& dims) {
  for (const auto& [symbol, value] : dims)
    if (value < 1) return fail("the dimension '{}' cannot be {}", symbol, value);
  Graph bound = graph;
  for (Value& input : bound.inputs) KF_TRY_VOID(bind_type(input.name, input.type, dims));
  for (Value& output : bound.outputs) bind_output(output.type, dims);
  KF_TRY_VOID(infer_types(bound, &dims));
  KF_TRY_VOID(check_concrete(bound));
  KF_TRY_VOID(check_sizes(bound));
  return bound;
}

}  // namespace kforge
