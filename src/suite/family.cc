#include "suite/family.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kforge {
namespace {

using Operators = std::set<std::string, std::less<>>;

struct FamilyRow {
  const char* name;
  std::vector<std::string_view> operators;  // any of them
};

const std::vector<FamilyRow>& rows() {
  static const std::vector<FamilyRow> kRows = {
      {"convolution", {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv"}},
      {"recurrent", {"LSTM", "GRU", "RNN", "Loop", "Scan"}},
      {"matmul", {"MatMul", "Gemm", "Einsum", "MatMulInteger", "QLinearMatMul"}},
      {"normalization",
       {"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
        "RMSNormalization", "LpNormalization", "MeanVarianceNormalization", "LRN", "Softmax", "LogSoftmax"}},
      {"pooling",
       {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool", "GlobalLpPool",
        "MaxUnpool"}},
      {"scan", {"CumSum", "CumProd"}},
      {"reduction",
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin", "TopK",
        "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}},
      {"movement",
       {"Transpose", "Reshape", "Concat", "Split", "Slice", "Gather", "GatherElements", "GatherND",
        "ScatterND", "ScatterElements", "Pad", "Tile", "Expand", "Resize", "DepthToSpace", "SpaceToDepth"}},
  };
  return kRows;
}

bool any_of(const Operators& there, const FamilyRow& row) {
  return std::ranges::any_of(row.operators, [&](std::string_view op) { return there.contains(op); });
}

// Two products with a softmax between them.
bool is_attention(const Graph& graph) {
  bool product = false, softmax = false;
  for (const Node& node : graph.nodes) {
    if (node.op == "Softmax" && product) softmax = true;
    if (node.op != "MatMul" && node.op != "Einsum") continue;
    if (softmax) return true;
    product = true;
  }
  return false;
}

}  // namespace

std::string family_of(const Graph& graph) {
  Operators there;
  for (const Node& node : graph.nodes) there.insert(node.op);
  if (there.empty()) return "other";
  auto last = std::prev(rows().end());
  for (auto row = rows().begin(); row != last; ++row) {
    if (!any_of(there, *row)) continue;
    const bool product = row->name == std::string_view("matmul");
    return product && is_attention(graph) ? "attention" : row->name;
  }
  // Only moving elements, or arithmetic element by element.
  const bool moves = std::ranges::all_of(there, [&](const std::string& op) {
    return std::ranges::find(last->operators, op) != last->operators.end();
  });
  return moves ? "movement" : "activation";
}

}  // namespace kforge
