#include "oracle/nudge.h"

#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

#include "oracle/parallel.h"

namespace kforge {

bool rounds_always(const Node& node) {
  static const std::set<std::string_view> kOperators = {"Acos",
                                                        "Acosh",
                                                        "Asin",
                                                        "Asinh",
                                                        "Atan",
                                                        "Atanh",
                                                        "AveragePool",
                                                        "BatchNormalization",
                                                        "Celu",
                                                        "Cos",
                                                        "Cosh",
                                                        "Div",
                                                        "Elu",
                                                        "Erf",
                                                        "Exp",
                                                        "Gelu",
                                                        "GlobalAveragePool",
                                                        "GroupNormalization",
                                                        "HardSigmoid",
                                                        "HardSwish",
                                                        "InstanceNormalization",
                                                        "LayerNormalization",
                                                        "Log",
                                                        "LogSoftmax",
                                                        "LpNormalization",
                                                        "LRN",
                                                        "MeanVarianceNormalization",
                                                        "Mish",
                                                        "NegativeLogLikelihoodLoss",
                                                        "Pow",
                                                        "Reciprocal",
                                                        "ReduceL2",
                                                        "ReduceLogSum",
                                                        "ReduceLogSumExp",
                                                        "ReduceMean",
                                                        "RMSNormalization",
                                                        "Selu",
                                                        "Sigmoid",
                                                        "Sin",
                                                        "Sinh",
                                                        "Softmax",
                                                        "SoftmaxCrossEntropyLoss",
                                                        "Softplus",
                                                        "Softsign",
                                                        "Sqrt",
                                                        "Tan",
                                                        "Tanh"};
  return kOperators.contains(node.op);
}

bool computes(const Node& node) {
  static const std::set<std::string_view> kOperators = {
      "Add",  "Conv", "ConvTranspose", "CumSum",    "Einsum",          "Gemm", "MatMul",
      "Mean", "Mul",  "ReduceProd",    "ReduceSum", "ReduceSumSquare", "Sub",  "Sum"};
  return kOperators.contains(node.op) || rounds_always(node);
}

void nudge(Tensor<float>& tensor, int threads) {
  if (!tensor.has_floats()) return;
  std::vector<float>& values = tensor.new_floats();
  parallel_for(threads, static_cast<std::int64_t>(values.size()), grain_for(4),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   float& value = values[static_cast<std::size_t>(i)];
                   // A multiplicative hash: neighbours must not move together, or a mean would move with
                   // them.
                   bool moves = (static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u) >> 63;
                   if (!moves || value == 0 || !std::isfinite(value)) continue;
                   std::uint32_t bits;
                   std::memcpy(&bits, &value, sizeof bits);
                   --bits;  // towards zero for either sign
                   std::memcpy(&value, &bits, sizeof bits);
                 }
               });
}

void jitter(Tensor<float>& tensor, std::uint64_t draw, int threads) {
  if (!tensor.has_floats()) return;
  std::vector<float>& values = tensor.new_floats();
  parallel_for(threads, static_cast<std::int64_t>(values.size()), grain_for(8),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   float& value = values[static_cast<std::size_t>(i)];
                   if (!std::isnormal(value) || value == std::trunc(value)) continue;
                   const std::uint64_t mixed =
                       (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u ^ draw * 0xbf58476d1ce4e5b9u;
                   const std::uint64_t direction = (mixed ^ mixed >> 29) * 0x94d049bb133111ebu >> 62;
                   if (direction < 2) value = std::nextafter(value, direction == 0 ? INFINITY : -INFINITY);
                 }
               });
}

}  // namespace kforge
