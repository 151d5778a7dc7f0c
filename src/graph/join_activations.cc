// Activations: functions of one element.
#include <cmath>

#include "graph/join_rule.h"

namespace kforge {
namespace {

// Constants may widen a tensor of fewer dimensions; then it is not this operator's input.
bool same_shape(const JoinSite& site) {
  return site.index().shape(site.value("x")) == site.index().shape(site.root());
}

bool activation(JoinSite& site, std::string op, std::string domain,
                std::map<std::string, Attribute> attributes = {}) {
  return same_shape(site) &&
         site.finish(std::move(op), std::move(domain), {site.value("x")}, std::move(attributes));
}

bool gelu(JoinSite& site) { return activation(site, "Gelu", "kforge"); }
bool gelu_tanh(JoinSite& site) {
  return activation(site, "Gelu", "kforge", {{"approximate", std::string("tanh")}});
}
bool mish(JoinSite& site) { return activation(site, "Mish", "kforge"); }
bool swish(JoinSite& site) { return activation(site, "Swish", "kforge"); }
bool softplus(JoinSite& site) { return activation(site, "Softplus", ""); }
bool hard_swish(JoinSite& site) { return activation(site, "HardSwish", ""); }

bool hard_swish_of_sigmoid(JoinSite& site) {
  for (const Node* node : site.calls("HardSigmoid"))
    if (std::abs(node->float_attr("alpha", 0.2f) - 1.0f / 6) > 1e-7f ||
        node->float_attr("beta", 0.5f) != 0.5f)
      return false;
  return hard_swish(site);
}

}  // namespace

const std::vector<JoinRule>& activation_rules() {
  static const std::vector<JoinRule> rules = {
      {"x * 0.5 * (1 + Erf(x * 0.70710678118654752))", gelu},
      {"x * 0.5 * (1 + Tanh(0.79788456080286536 * (x + 0.044715 * x ^ 3)))", gelu_tanh},
      {"x * 0.5 * (1 + Tanh(0.79788456080286536 * x * (1 + 0.044715 * x ^ 2)))", gelu_tanh},
      // PyTorch's Softplus is linear above 20, where the difference is less than a rounding.
      {"x * Tanh(Where(Greater(x, 20), x, Softplus(x)))", mish},
      {"x * Tanh(Softplus(x))", mish},
      {"x * Tanh(Log(1 + Exp(x)))", mish},
      {"x * Sigmoid(x)", swish},
      {"x / (1 + Exp(0 - x))", swish},
      {"x / 6 * Clip(x + 3, 0, 6)", hard_swish},
      {"x / 6 * Clip(Relu(x + 3), 0, 6)", hard_swish},
      {"x * Clip((x + 3) / 6, 0, 1)", hard_swish},
      {"x * Clip(x / 6 + 0.5, 0, 1)", hard_swish},
      {"x * HardSigmoid(x)", hard_swish_of_sigmoid},
      {"Where(Greater(x, 20), x, Softplus(x))", softplus},
      {"Log(1 + Exp(x))", softplus},
  };
  return rules;
}

}  // namespace kforge
