#include "task/guess.h"

#include <cmath>
#include <optional>

#include "task/follow.h"
#include "task/index_limit.h"

namespace kforge {
namespace {

using Kind = Distribution::Kind;

const Shape* find_shape(const Graph& graph, const std::string& value, Shape& storage) {
  auto type = graph.types.find(value);
  if (type == graph.types.end() || !type->second.concrete()) return nullptr;
  storage = type->second.shape();
  return &storage;
}

// Number of products summed into one output element when this use is a weight; 0 when it is none.
double products_per_output(const Graph& graph, const Use& use) {
  Shape storage;
  const Shape* shape = find_shape(graph, use.value, storage);
  if (!shape || shape->empty()) return 0;
  const Node& node = *use.node;
  std::size_t rank = shape->size();
  if (node.op == "MatMul") {
    bool left = use.input == 0;
    return static_cast<double>(rank == 1 ? (*shape)[0] : left ? (*shape)[rank - 1] : (*shape)[rank - 2]);
  }
  if (node.op == "Gemm" && rank == 2 && use.input < 2) {
    bool transposed = node.int_attr(use.input == 0 ? "transA" : "transB", 0) != 0;
    bool inner_is_first = (use.input == 1) != transposed;
    return static_cast<double>((*shape)[inner_is_first ? 0 : 1]);
  }
  if (node.op == "Conv" && use.input == 1) {
    double products = 1;
    for (std::size_t i = 1; i < rank; ++i) products *= static_cast<double>((*shape)[i]);
    return products;
  }
  if (node.op == "ConvTranspose" && use.input == 1) {
    double products = static_cast<double>((*shape)[0]) / static_cast<double>(node.int_attr("group", 1));
    for (std::size_t i = 2; i < rank; ++i) products *= static_cast<double>((*shape)[i]);
    for (std::int64_t stride : node.ints_attr("strides")) products /= static_cast<double>(stride);
    return std::max(products, 1.0);
  }
  bool recurrent = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
  if (recurrent && (use.input == 1 || use.input == 2)) return static_cast<double>((*shape)[rank - 1]);
  return 0;
}

bool is_normalisation(const std::string& op) {
  return op == "BatchNormalization" || op == "InstanceNormalization" || op == "LayerNormalization" ||
         op == "GroupNormalization" || op == "RMSNormalization";
}

bool is_unsigned(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32 ||
         dtype == DType::kUInt64;
}

}  // namespace

Distribution guess_distribution(const Graph& bound, const std::string& value, DType dtype, Role role) {
  if (dtype == DType::kBool) return {Kind::kMask, 0.5, 0};
  if (!is_float(dtype)) {
    if (std::int64_t limit = index_limit_of(bound, value); limit > 0)
      return {Kind::kInteger, 0, static_cast<double>(limit)};
    return is_unsigned(dtype) ? Distribution{Kind::kInteger, 0, 16} : Distribution{Kind::kInteger, -8, 8};
  }
  for (const Use& use : real_uses(bound, value)) {
    if (use.node->op == "BatchNormalization" && use.input == 4) return {Kind::kPositive, 0.5, 1.5};
    if (is_normalisation(use.node->op) && use.input == 1) return {Kind::kUniform, 0.5, 1.5};
    if (role != Role::kParam) continue;
    if (double products = products_per_output(bound, use); products > 0)
      return {Kind::kNormal, 0, 1 / std::sqrt(products)};
  }
  return {Kind::kUniform, -1, 1};
}

}  // namespace kforge
