// Einsum. Operands are contracted from left to right, each time as a batch of matrix products: labels are
// sorted into batch (in both operands and still needed), rows (left only), columns (right only) and summed
// ones.
#include <algorithm>
#include <map>

#include "graph/einsum.h"
#include "oracle/elementwise.h"
#include "oracle/gemm.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

using Labels = std::string;  // one character per axis, as in EinsumEquation

// An operand together with the labels of its axes, each at most once.
template <class F>
struct Labelled {
  Labels labels;
  Tensor<F> tensor;
};

// Axes with the same label become one: the diagonal.
template <class F>
Labelled<F> take_diagonals(const Labels& labels, const Tensor<F>& x, int threads) {
  const Shape strides = contiguous_strides(x.shape());
  Labels kept;
  Shape shape, steps;
  for (std::size_t d = 0; d < labels.size(); ++d) {
    const auto seen = kept.find(labels[d]);
    if (seen == Labels::npos) {
      kept += labels[d];
      shape.push_back(x.shape()[d]);
      steps.push_back(strides[d]);
    } else {
      if (shape[seen] != x.shape()[d])
        refuse("label {} stands for {} and {}", labels[d], shape[seen], x.shape()[d]);
      steps[seen] += strides[d];
    }
  }
  if (kept == labels) return {labels, x};
  return {kept, strided_copy(x, shape, 0, steps, threads)};
}

// The operand with its axes in the given order; labels it lacks are axes of 1.
template <class F>
Tensor<F> arranged(const Labelled<F>& x, const Labels& order, int threads) {
  const Shape strides = contiguous_strides(x.tensor.shape());
  Shape shape, steps;
  for (char label : order) {
    const auto axis = x.labels.find(label);
    shape.push_back(axis == Labels::npos ? 1 : x.tensor.shape()[axis]);
    steps.push_back(axis == Labels::npos ? 0 : strides[axis]);
  }
  return strided_copy(x.tensor, shape, 0, steps, threads);
}

// Sums over the axes whose label nobody needs any more.
template <class F>
Labelled<F> sum_out(const Call<F>& call, const Labelled<F>& x, const Labels& needed) {
  Node node{.name = call.node.name};
  std::vector<std::int64_t> axes;
  Labels kept;
  for (std::size_t d = 0; d < x.labels.size(); ++d) {
    if (needed.find(x.labels[d]) == Labels::npos)
      axes.push_back(static_cast<std::int64_t>(d));
    else
      kept += x.labels[d];
  }
  if (axes.empty()) return x;
  node.attributes["axes"] = axes;
  node.attributes["keepdims"] = std::int64_t{0};
  return {kept, op_ReduceSum(Call<F>{node, {&x.tensor}, call.threads, call.scope})[0]};
}

// The product of two operands, summed over the labels that are in both and not in `needed`.
template <class F>
Labelled<F> contract(const Call<F>& call, const Labelled<F>& a, const Labelled<F>& b, const Labels& needed) {
  Labels batch, rows, columns, summed;
  std::map<char, std::int64_t> dims;
  for (const auto* side : {&a, &b})
    for (std::size_t d = 0; d < side->labels.size(); ++d) {
      std::int64_t& dim = dims.try_emplace(side->labels[d], side->tensor.shape()[d]).first->second;
      if (dim == 1)
        dim = side->tensor.shape()[d];
      else if (side->tensor.shape()[d] != 1 && side->tensor.shape()[d] != dim)
        refuse("a label stands for {} and for {}", dim, side->tensor.shape()[d]);
    }
  for (char label : a.labels) {
    const bool in_b = b.labels.find(label) != Labels::npos, is_needed = needed.find(label) != Labels::npos;
    (in_b ? (is_needed ? batch : summed) : rows) += label;
  }
  for (char label : b.labels)
    if (a.labels.find(label) == Labels::npos) columns += label;
  auto expanded = [&](const Labelled<F>& x, const Labels& order) {  // an axis of 1 stretches to the other's
    Tensor<F> t = arranged(x, order, call.threads);
    Shape shape;
    for (char label : order) shape.push_back(dims[label]);
    if (t.shape() == shape) return t;
    return strided_copy(t, shape, 0, broadcast_strides(t.shape(), shape), call.threads);
  };
  auto product = [&](const Labels& labels) {
    Shape shape;
    for (char label : labels) shape.push_back(dims[label]);
    return checked_count(shape);
  };
  const Labels order = batch + rows + columns;
  Shape result;
  for (char label : order) result.push_back(dims[label]);
  checked_count(result);
  const std::int64_t n = product(batch), m = product(rows), k = product(summed), c = product(columns);
  const Tensor<F> left = expanded(a, batch + rows + summed).reshaped({n, m, k});
  const Tensor<F> right = expanded(b, batch + summed + columns).reshaped({n, k, c});
  return {order, matmul(call, left, right).reshaped(result)};
}

}  // namespace

KF_ORACLE_OPERATOR(Einsum) {
  std::vector<std::int64_t> ranks;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) ranks.push_back(call.in(i).rank());
  const auto read = read_einsum(call.node.string_attr("equation", ""), ranks);
  if (!read) refuse("{}", read.error().message);
  const EinsumEquation& equation = *read;
  auto needed_from = [&](std::size_t next) {  // labels of the result and of operands not yet used
    Labels needed = equation.output;
    for (std::size_t i = next; i < equation.inputs.size(); ++i) needed += equation.inputs[i];
    return needed;
  };
  auto operand = [&](std::size_t i) { return take_diagonals(equation.inputs[i], call.in(i), call.threads); };
  Labelled<F> result = sum_out(call, operand(0), needed_from(1));
  for (std::size_t i = 1; i < equation.inputs.size(); ++i) {
    require_same_dtype(result.tensor.dtype(), call.in(i).dtype());
    const Labels needed = needed_from(i + 1);
    result = contract(call, result, sum_out(call, operand(i), needed + result.labels), needed);
    result = sum_out(call, result, needed);
  }
  for (std::size_t i = 0; i < equation.output.size(); ++i) {
    const char label = equation.output[i];
    if (equation.output.find(label) != i) refuse("the result has a label twice");
    if (label >= ' ' && result.labels.find(label) == Labels::npos)
      refuse("the result has the label {}, which no input has", label);
  }
  return {arranged(result, equation.output, call.threads)};
}

KF_ORACLE_INSTANTIATE(Einsum)

}  // namespace kforge
