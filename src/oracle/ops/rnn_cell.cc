#include "oracle/ops/rnn_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/strides.h"

namespace kforge {
namespace {

// Swaps the first two axes.
template <class F>
Tensor<F> swapped(const Tensor<F>& x, int threads) {
  Shape shape = x.shape(), strides = contiguous_strides(shape);
  std::swap(shape[0], shape[1]);
  std::swap(strides[0], strides[1]);
  return strided_copy(x, shape, 0, strides, threads);
}

template <class F>
std::vector<F> checked_weights(const Call<F>& call, std::size_t index, const Shape& wanted) {
  if (call.in(index).shape() != wanted)
    refuse("input {} has shape {} instead of {}", index, to_string(call.in(index).shape()),
           to_string(wanted));
  return call.floats(index);
}

// C[rows][columns] = A[rows][depth] * B[columns][depth] transposed.
template <class F>
void multiply_by_transposed(int threads, const GemmSize& size, const F* a, const F* b, F* c) {
  multiply_matrices<F>(
      threads, 1, size,
      [&](std::int64_t) {
        return MatrixView<F>{a, size.depth, 1};
      },
      [&](std::int64_t) {
        return MatrixView<F>{b, 1, size.depth};
      },
      c);
}

}  // namespace

template <class F>
Recurrent<F>::Recurrent(const Call<F>& call, std::int64_t gate_count)
    : gates(gate_count), threads(call.threads) {
  const std::string direction = call.node.string_attr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    refuse("direction \"{}\" is unknown", direction);
  directions = direction == "bidirectional" ? 2 : 1;
  reverse_only = direction == "reverse";
  batch_first = call.int_attr("layout", 0) != 0;
  if (call.in(0).rank() != 3)
    refuse("data of shape {} where three axes are needed", to_string(call.in(0).shape()));
  x = batch_first ? swapped(call.in(0), call.threads) : call.in(0);
  steps = x.dim(0);
  batch = x.dim(1);
  input = x.dim(2);
  if (call.in(2).rank() != 3) refuse("recurrent weights of shape {}", to_string(call.in(2).shape()));
  hidden = call.in(2).dim(2);
  if (const std::int64_t named = call.int_attr("hidden_size", hidden); named != hidden)
    refuse("hidden_size {} for weights of {}", named, hidden);
  w = checked_weights(call, 1, {directions, gates * hidden, input});
  r = checked_weights(call, 2, {directions, gates * hidden, hidden});
  const auto per_direction = static_cast<std::ptrdiff_t>(gates * hidden);
  w_bias.assign(static_cast<std::size_t>(directions * gates * hidden), 0);
  r_bias = w_bias;
  if (call.has(3)) {
    const std::vector<F> b = checked_weights(call, 3, {directions, 2 * gates * hidden});
    for (std::ptrdiff_t d = 0; d < directions; ++d) {
      std::copy_n(b.begin() + 2 * d * per_direction, per_direction, w_bias.begin() + d * per_direction);
      std::copy_n(b.begin() + (2 * d + 1) * per_direction, per_direction, r_bias.begin() + d * per_direction);
    }
  }
  lengths.assign(static_cast<std::size_t>(batch), steps);
  if (call.has(4)) lengths = call.ints(4);
  if (static_cast<std::int64_t>(lengths.size()) != batch)
    refuse("{} lengths for {} sequences", lengths.size(), batch);
  for (std::int64_t length : lengths)
    if (length < 0 || length > steps) refuse("a length of {} in sequences of {}", length, steps);
  initial_h = initial_state(call, 5);
  clip = call.node.has_attr("clip") ? call.float_attr("clip", 0) : std::numeric_limits<F>::infinity();
}

template <class F>
std::vector<F> Recurrent<F>::initial_state(const Call<F>& call, std::size_t index) const {
  if (!call.has(index))
    return std::vector<F>(static_cast<std::size_t>(checked_count({directions, batch, hidden})));
  if (!batch_first) return checked_weights(call, index, {directions, batch, hidden});
  checked_weights(call, index, {batch, directions, hidden});
  return swapped(call.in(index), call.threads).floats();
}

template <class F>
std::vector<F> Recurrent<F>::input_products(std::int64_t direction) const {
  const std::int64_t columns = gates * hidden;
  std::vector<F> products(static_cast<std::size_t>(checked_count({steps, batch, columns})));
  multiply_by_transposed(static_cast<int>(threads), {steps * batch, columns, input}, x.floats().data(),
                         w.data() + direction * columns * input, products.data());
  for (std::size_t i = 0; i < products.size(); ++i)
    products[i] +=
        w_bias[static_cast<std::size_t>(direction * columns) + i % static_cast<std::size_t>(columns)];
  return products;
}

template <class F>
std::vector<F> Recurrent<F>::recurrent_products(std::int64_t direction, const std::vector<F>& h,
                                                std::int64_t first, std::int64_t count) const {
  std::vector<F> products(static_cast<std::size_t>(batch * count * hidden));
  multiply_by_transposed(static_cast<int>(threads), {batch, count * hidden, hidden}, h.data(),
                         r.data() + (direction * gates + first) * hidden * hidden, products.data());
  for (std::int64_t i = 0; i < batch * count * hidden; ++i)
    products[static_cast<std::size_t>(i)] +=
        r_bias[static_cast<std::size_t>((direction * gates + first) * hidden + i % (count * hidden))];
  return products;
}

template <class F>
Tensor<F> Recurrent<F>::all_outputs(std::vector<F> y, DType dtype) const {
  const Tensor<F> tensor(dtype, {steps, directions, batch, hidden}, std::move(y));
  if (!batch_first) return tensor;
  const Shape strides = contiguous_strides(tensor.shape());
  return strided_copy(tensor, {batch, steps, directions, hidden}, 0,
                      {strides[2], strides[0], strides[1], strides[3]}, static_cast<int>(threads));
}

template <class F>
Tensor<F> Recurrent<F>::last_state(std::vector<F> state, DType dtype) const {
  const Tensor<F> tensor(dtype, {directions, batch, hidden}, std::move(state));
  return batch_first ? swapped(tensor, static_cast<int>(threads)) : tensor;
}

template struct Recurrent<double>;
template struct Recurrent<float>;

template <class F>
std::function<F(F)> activation(const Call<F>& call, std::size_t index,
                               const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  if (const auto found = call.node.attributes.find("activations"); found != call.node.attributes.end())
    if (const auto* list = std::get_if<std::vector<std::string>>(&found->second)) names = *list;
  std::string name = index < names.size() ? names[index] : defaults[index % defaults.size()];
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto alphas = call.node.floats_attr("activation_alpha"),
             betas = call.node.floats_attr("activation_beta");
  auto alpha = [&](float otherwise) {
    return static_cast<F>(index < alphas.size() ? alphas[index] : otherwise);
  };
  auto beta = [&](float otherwise) {
    return static_cast<F>(index < betas.size() ? betas[index] : otherwise);
  };
  if (name == "tanh") return [](F x) { return std::tanh(x); };
  if (name == "sigmoid")
    return [](F x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); };
  if (name == "relu") return [](F x) { return x < 0 ? F(0) : x; };
  if (name == "affine") return [a = alpha(1), b = beta(0)](F x) { return a * x + b; };
  if (name == "leakyrelu") return [a = alpha(0.01f)](F x) { return x < 0 ? a * x : x; };
  if (name == "thresholdedrelu") return [a = alpha(1)](F x) { return x <= a ? F(0) : x; };
  if (name == "scaledtanh") return [a = alpha(1), b = beta(1)](F x) { return a * std::tanh(b * x); };
  if (name == "hardsigmoid")
    return [a = alpha(0.2f), b = beta(0.5f)](F x) { return std::clamp(a * x + b, F(0), F(1)); };
  if (name == "elu") return [a = alpha(1)](F x) { return x < 0 ? a * std::expm1(x) : x; };
  if (name == "softsign") return [](F x) { return x / (1 + std::fabs(x)); };
  if (name == "softplus")
    return [](F x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); };
  refuse("activation \"{}\" is unknown", name);
}
template std::function<double(double)> activation(const Call<double>&, std::size_t,
                                                  const std::vector<std::string>&);
template std::function<float(float)> activation(const Call<float>&, std::size_t,
                                                const std::vector<std::string>&);

}  // namespace kforge
