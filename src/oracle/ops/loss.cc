// Losses over class labels.
#include <cmath>
#include <optional>

#include "oracle/call.h"
#include "oracle/chain_sum.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

// Inputs: log probabilities N,C,d1..., labels N,d1..., weights C.
template <class F>
Tensor<F> negative_log_likelihood(const Call<F>& call, const Tensor<F>& log_prob, const Tensor<F>& labels,
                                  const Tensor<F>* weights) {
  if (log_prob.rank() < 2) refuse("shape {} has no classes", to_string(log_prob.shape()));
  Shape wanted = log_prob.shape();
  wanted.erase(wanted.begin() + 1);
  if (labels.shape() != wanted)
    refuse("labels of shape {} for scores of shape {}", to_string(labels.shape()),
           to_string(log_prob.shape()));
  const AxisView view(log_prob.shape(), 1);
  if (weights && weights->size() != view.length)
    refuse("{} weights for {} classes", weights->size(), view.length);
  const std::string reduction = call.node.string_attr("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    refuse("reduction \"{}\" is unknown", reduction);
  const bool ignores = call.node.has_attr("ignore_index");
  const std::int64_t ignored = call.int_attr("ignore_index", 0);

  Tensor<F> losses(log_prob.dtype(), wanted);
  ChainSum<F> sum(labels.size()), weight_sum(labels.size());
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels.ints()[static_cast<std::size_t>(i)];
    if (ignores && label == ignored) continue;
    if (label < 0 || label >= view.length) refuse("label {} of {} classes", label, view.length);
    const F weight = weights ? weights->floats()[static_cast<std::size_t>(label)] : F(1);
    const std::int64_t at = (i / view.inner * view.length + label) * view.inner + i % view.inner;
    const F loss = -log_prob.floats()[static_cast<std::size_t>(at)] * weight;
    losses.new_floats()[static_cast<std::size_t>(i)] = loss;
    sum.add(loss);
    weight_sum.add(weight);
  }
  if (reduction == "none") return losses;
  return Tensor<F>(log_prob.dtype(), {},
                   std::vector<F>{reduction == "sum" ? sum.total() : sum.total() / weight_sum.total()});
}

}  // namespace

KF_ORACLE_OPERATOR(NegativeLogLikelihoodLoss) {
  return {negative_log_likelihood(call, call.in(0), call.in(1), call.has(2) ? &call.in(2) : nullptr)};
}

// Outputs: the loss, and the logarithms of the probabilities.
KF_ORACLE_OPERATOR(SoftmaxCrossEntropyLoss) {
  Node node{.name = call.node.name};
  node.attributes["axis"] = std::int64_t{1};
  const Tensor<F> log_prob = op_LogSoftmax(Call<F>{node, {&call.in(0)}, call.threads, call.scope})[0];
  return {negative_log_likelihood(call, log_prob, call.in(1), call.has(2) ? &call.in(2) : nullptr), log_prob};
}

KF_ORACLE_INSTANTIATE(NegativeLogLikelihoodLoss)
KF_ORACLE_INSTANTIATE(SoftmaxCrossEntropyLoss)

}  // namespace kforge
