// One node being run: its inputs, its attributes, and the checks every operator makes on them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "oracle/parallel.h"
#include "oracle/tensor.h"

namespace kforge {

// Runs the body of a control-flow operator; the body sees the values around its node.
template <class F>
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::vector<Tensor<F>> run_body(const Graph& body, std::vector<Tensor<F>> inputs) = 0;
};

template <class F>
struct Call {
  const Node& node;
  std::vector<const Tensor<F>*> inputs;  // null where an optional input is absent
  int threads = 1;
  Scope<F>* scope = nullptr;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Tensor<F>& in(std::size_t i) const {
    if (!has(i)) refuse("input {} is missing", i);
    return *inputs[i];
  }
  const std::vector<F>& floats(std::size_t i) const { return in(i).floats(); }
  const std::vector<std::int64_t>& ints(std::size_t i) const { return in(i).ints(); }

  std::int64_t scalar_int(std::size_t i) const { return scalar(i, ints(i)); }
  F scalar_float(std::size_t i) const { return scalar(i, floats(i)); }
  // Whether the optional output is asked for.
  bool wants(std::size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }

  std::int64_t int_attr(std::string_view name, std::int64_t otherwise) const {
    return node.int_attr(name, otherwise);
  }
  F float_attr(std::string_view name, float otherwise) const {
    return static_cast<F>(node.float_attr(name, otherwise));
  }

  template <class Body>
  void parallel(std::int64_t count, std::int64_t item_cost, const Body& body) const {
    check_work(static_cast<double>(count) * static_cast<double>(item_cost));
    parallel_for(threads, count, grain_for(item_cost), body);
  }

 private:
  template <class T>
  static T scalar(std::size_t i, const std::vector<T>& values) {
    if (values.size() != 1) refuse("input {} has {} elements where one is needed", i, values.size());
    return values[0];
  }
};

template <class F>
using Outputs = std::vector<Tensor<F>>;

// An operator of ONNX (or of domain "kforge") by its own name: op_MatMul<double>. It throws Refusal.
#define KF_ORACLE_OPERATOR(name) \
  template <class F>             \
  Outputs<F> op_##name(const Call<F>& call)
// Compiles it for truth and yardstick; stands at the end of the file that defines it.
#define KF_ORACLE_INSTANTIATE(name)                             \
  template Outputs<double> op_##name(const Call<double>& call); \
  template Outputs<float> op_##name(const Call<float>& call);

// An axis counted from the end becomes one from the front; refuses what lies outside of [-rank, rank).
inline std::int64_t normal_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) refuse("axis {} is outside of a tensor with {} dimensions", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

// An index into `size` elements, negative ones from the end.
inline std::int64_t normal_index(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size) refuse("index {} is outside of a dimension of {}", index, size);
  return index < 0 ? index + size : index;
}

// Products of the dimensions before, at and after an axis: x[outer][axis][inner].
struct AxisView {
  std::int64_t outer = 1, length = 1, inner = 1;

  AxisView(const Shape& shape, std::int64_t axis) : length(shape[static_cast<std::size_t>(axis)]) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<std::int64_t>(d) < axis) outer *= shape[d];
      if (static_cast<std::int64_t>(d) > axis) inner *= shape[d];
    }
  }
};

}  // namespace kforge
