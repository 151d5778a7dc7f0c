// The optimizers of ONNX's training domain: each input group holds several tensors, updated one by one.
// Inputs: R (rate), T (step), then all X, all gradients, and all states.
#include <cmath>

#include "oracle/elementwise.h"

namespace kforge {
namespace {

// Number of tensors optimised together, when each comes with `groups` inputs.
template <class F>
std::size_t tensors_of(const Call<F>& call, std::size_t groups) {
  if (call.inputs.size() < 2 + groups || (call.inputs.size() - 2) % groups != 0)
    refuse("{} inputs do not divide into groups of {}", call.inputs.size() - 2, groups);
  return (call.inputs.size() - 2) / groups;
}

template <class F>
Tensor<F> same_shape(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b, const auto& fn) {
  if (a.shape() != b.shape())
    refuse("shapes {} and {} of one tensor", to_string(a.shape()), to_string(b.shape()));
  return combine_floats(call, a, b, fn);
}

}  // namespace

KF_ORACLE_OPERATOR(Adagrad) {
  const std::size_t n = tensors_of(call, 3);
  const F epsilon = call.float_attr("epsilon", 1e-6f), norm = call.float_attr("norm_coefficient", 0);
  const F rate =
      call.scalar_float(0) / (1 + static_cast<F>(call.scalar_int(1)) * call.float_attr("decay_factor", 0));
  Outputs<F> results(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor<F>&x = call.in(2 + i), &h = call.in(2 + 2 * n + i);
    const Tensor<F> g = same_shape(call, call.in(2 + n + i), x, [=](F grad, F v) { return norm * v + grad; });
    results[n + i] = same_shape(call, h, g, [](F square, F grad) { return square + grad * grad; });
    const Tensor<F> step = same_shape(call, g, results[n + i],
                                      [=](F grad, F square) { return grad / (std::sqrt(square) + epsilon); });
    results[i] = same_shape(call, x, step, [=](F v, F s) { return v - rate * s; });
  }
  return results;
}

KF_ORACLE_OPERATOR(Adam) {
  const std::size_t n = tensors_of(call, 4);
  const F alpha = call.float_attr("alpha", 0.9f), beta = call.float_attr("beta", 0.999f),
          epsilon = call.float_attr("epsilon", 1e-6f);
  const F norm = call.float_attr("norm_coefficient", 0),
          norm_post = call.float_attr("norm_coefficient_post", 0);
  const auto t = static_cast<F>(call.scalar_int(1));
  F rate = call.scalar_float(0);
  if (t > 0) rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
  Outputs<F> results(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor<F>& x = call.in(2 + i);
    const Tensor<F> g = same_shape(call, call.in(2 + n + i), x, [=](F grad, F v) { return norm * v + grad; });
    results[n + i] = same_shape(call, call.in(2 + 2 * n + i), g,
                                [=](F mean, F grad) { return alpha * mean + (1 - alpha) * grad; });
    results[2 * n + i] = same_shape(call, call.in(2 + 3 * n + i), g, [=](F square, F grad) {
      return beta * square + (1 - beta) * grad * grad;
    });
    const Tensor<F> step = same_shape(call, results[n + i], results[2 * n + i],
                                      [=](F mean, F square) { return mean / (std::sqrt(square) + epsilon); });
    results[i] = same_shape(call, x, step, [=](F v, F s) { return (1 - norm_post) * (v - rate * s); });
  }
  return results;
}

KF_ORACLE_OPERATOR(Momentum) {
  const std::size_t n = tensors_of(call, 3);
  const F rate = call.scalar_float(0), alpha = call.float_attr("alpha", 0),
          norm = call.float_attr("norm_coefficient", 0);
  const F beta = call.scalar_int(1) > 0 ? call.float_attr("beta", 0) : F(1);
  const std::string mode = call.node.string_attr("mode", "standard");
  if (mode != "standard" && mode != "nesterov") refuse("mode \"{}\" is unknown", mode);
  Outputs<F> results(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor<F>&x = call.in(2 + i), &v = call.in(2 + 2 * n + i);
    const Tensor<F> g =
        same_shape(call, call.in(2 + n + i), x, [=](F grad, F value) { return norm * value + grad; });
    results[n + i] = same_shape(call, v, g, [=](F old_v, F grad) { return alpha * old_v + beta * grad; });
    const Tensor<F> step =
        mode == "standard"
            ? results[n + i]
            : same_shape(call, g, results[n + i], [=](F grad, F new_v) { return grad + alpha * new_v; });
    results[i] = same_shape(call, x, step, [=](F value, F s) { return value - rate * s; });
  }
  return results;
}

KF_ORACLE_INSTANTIATE(Adagrad)
KF_ORACLE_INSTANTIATE(Adam)
KF_ORACLE_INSTANTIATE(Momentum)

}  // namespace kforge
