#include "graph/folded_inputs.h"

#include <algorithm>
#include <unordered_map>

namespace kforge {
namespace {

struct ControlRow {
  std::string_view op;
  std::vector<std::size_t> inputs;
};

const std::vector<ControlRow> kControlInputs = {
    {"Reshape", {1}},     {"Expand", {1}},       {"Tile", {1}},
    {"Squeeze", {1}},     {"Unsqueeze", {1}},    {"ReduceSum", {1}},
    {"Split", {1}},       {"TopK", {1}},         {"Slice", {1, 2, 3, 4}},
    {"Pad", {1, 2}},      {"Resize", {1, 2, 3}}, {"OneHot", {1}},
    {"CumSum", {1}},      {"Trilu", {1}},        {"ConstantOfShape", {0}},
    {"Range", {0, 1, 2}}, {"Clip", {1, 2}},      {"Dropout", {1, 2}},
    {"CumProd", {1}},     {"MaxUnpool", {2}},    {"Loop", {0, 1}},
    {"If", {0}},          {"Upsample", {1}},     {"NonMaxSuppression", {2, 3, 4}},
    {"DFT", {1}},         {"STFT", {1, 3}},      {"Bernoulli", {}},
    {"Compress", {}},
};

// One element, whatever its rank, is a scalar in these.
constexpr std::string_view kPointwise[] = {"Add",
                                           "Sub",
                                           "Mul",
                                           "Div",
                                           "Pow",
                                           "Max",
                                           "Min",
                                           "Where",
                                           "Mod",
                                           "Equal",
                                           "Greater",
                                           "Less",
                                           "GreaterOrEqual",
                                           "LessOrEqual"};

bool is_pointwise(const std::string& op) { return std::ranges::find(kPointwise, op) != std::end(kPointwise); }

}  // namespace

bool is_control_input(const Node& node, std::size_t index) {
  for (const ControlRow& row : kControlInputs)
    if (row.op == node.op) return std::ranges::find(row.inputs, index) != row.inputs.end();
  return false;
}

void mark_folded_initializers(Graph& graph) {
  struct Use {
    bool control = true, pointwise = true;  // in every place it is used
  };
  std::unordered_map<std::string, Use> uses;
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Use& use = uses[node.inputs[i]];
      use.control &= is_control_input(node, i);
      use.pointwise &= is_pointwise(node.op);
    }
  for (Initializer& initializer : graph.initializers) {
    const Shape& shape = initializer.tensor.shape;
    Use use = uses.contains(initializer.name) ? uses[initializer.name] : Use{};
    bool scalar = shape.empty() || (element_count(shape) == 1 && use.pointwise);
    if (scalar || use.control || initializer.tensor.dtype == DType::kString) initializer.folded = true;
  }
}

}  // namespace kforge
