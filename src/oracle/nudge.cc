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

}  // namespace kforge
