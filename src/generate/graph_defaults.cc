// What a graph leaves unsaid: attributes that are absent have ONNX's defaults, and a program must know them.
// Only those that change the values are listed, as the standard's current versions have them.
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <vector>

#include "generate/prompt_facts.h"

namespace kforge {
namespace {

struct Default {
  std::string_view attribute, meaning;
};

const std::map<std::string_view, std::vector<Default>>& known_defaults() {
  constexpr Default strides{"strides", "strides = 1"}, pads{"pads", "pads = 0"},
      dilations{"dilations", "dilations = 1"}, epsilon{"epsilon", "epsilon = 1e-5"};
  constexpr Default first{"select_last_index", "select_last_index = 0: the first of equal values"};
  static const std::map<std::string_view, std::vector<Default>> known = {
      {"ArgMax", {first}},
      {"ArgMin", {first}},
      {"AveragePool",
       {strides, pads, {"count_include_pad", "count_include_pad = 0: the mean is over real elements"}}},
      {"BatchNormalization", {epsilon}},
      {"Celu", {{"alpha", "alpha = 1"}}},
      {"Conv", {strides, pads, dilations}},
      {"ConvTranspose", {strides, pads, dilations}},
      {"CumSum", {{"exclusive", "exclusive = 0"}, {"reverse", "reverse = 0"}}},
      {"Elu", {{"alpha", "alpha = 1"}}},
      {"Gelu", {{"approximate", "approximate = none: with erf"}}},
      {"Gemm",
       {{"alpha", "alpha = 1"}, {"beta", "beta = 1"}, {"transA", "transA = 0"}, {"transB", "transB = 0"}}},
      {"GroupNormalization", {epsilon}},
      {"HardSigmoid", {{"alpha", "alpha = 0.2"}, {"beta", "beta = 0.5"}}},
      {"InstanceNormalization", {epsilon}},
      {"LayerNormalization", {epsilon, {"axis", "axis = -1"}}},
      {"LeakyRelu", {{"alpha", "alpha = 0.01"}}},
      {"LogSoftmax", {{"axis", "axis = -1"}}},
      {"MaxPool", {strides, pads, dilations}},
      {"RMSNormalization", {epsilon, {"axis", "axis = -1"}}},
      {"Softmax", {{"axis", "axis = -1"}}},
      {"ThresholdedRelu", {{"alpha", "alpha = 1"}}},
      {"TopK", {{"largest", "largest = 1"}, {"sorted", "sorted = 1"}}},
  };
  return known;
}

}  // namespace

std::string defaults_text(const Graph& graph) {
  std::vector<std::string> texts;
  std::set<std::string> said;
  for (const Node& node : graph.nodes) {
    auto known = known_defaults().find(node.op);
    if (known == known_defaults().end()) continue;
    std::vector<std::string_view> absent;
    for (const Default& one : known->second)
      if (!node.has_attr(one.attribute)) absent.push_back(one.meaning);
    if (absent.empty()) continue;
    std::string text = fmt::format("{}: {}", node.op, fmt::join(absent, ", "));
    if (said.insert(text).second) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace kforge
