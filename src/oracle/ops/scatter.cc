// Writing at indices, in the order of the updates.
#include <cmath>

#include "oracle/call.h"
#include "oracle/ops/operators.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

enum class Reduce { kNone, kAdd, kMul, kMax, kMin };

Reduce reduction_of(const Node& node) {
  const std::string name = node.string_attr("reduction", "none");
  if (name == "none") return Reduce::kNone;
  if (name == "add") return Reduce::kAdd;
  if (name == "mul") return Reduce::kMul;
  if (name == "max") return Reduce::kMax;
  if (name == "min") return Reduce::kMin;
  refuse("reduction \"{}\" is unknown", name);
}

template <class T>
T combined(Reduce reduce, T old_value, T update) {
  switch (reduce) {
    case Reduce::kAdd:
      return old_value + update;
    case Reduce::kMul:
      return old_value * update;
    case Reduce::kMax:
      return old_value < update || update != update ? update : old_value;
    case Reduce::kMin:
      return update < old_value || update != update ? update : old_value;
    case Reduce::kNone:
      break;
  }
  return update;
}

// Writes update[i] over to[place(i)] for all i.
template <class F, class Place>
Tensor<F> scattered(const Tensor<F>& data, const Tensor<F>& updates, Reduce reduce, const Place& place) {
  if (updates.dtype() != data.dtype())
    refuse("updates of {} for data of {}", name_of(updates.dtype()), name_of(data.dtype()));
  const std::int64_t count = updates.size();
  if (data.has_floats()) {
    auto values = data.floats();
    for (std::int64_t i = 0; i < count; ++i) {
      F& target = values[static_cast<std::size_t>(place(i))];
      target = combined(reduce, target, updates.floats()[static_cast<std::size_t>(i)]);
    }
    return Tensor<F>(data.dtype(), data.shape(), std::move(values));
  }
  auto values = data.ints();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t& target = values[static_cast<std::size_t>(place(i))];
    const std::int64_t update = updates.ints()[static_cast<std::size_t>(i)];
    if (reduce == Reduce::kAdd || reduce == Reduce::kMul || data.dtype() == DType::kUInt64)  // wraps around
      target =
          wrap_to(data.dtype(), static_cast<std::int64_t>(combined(reduce, static_cast<std::uint64_t>(target),
                                                                   static_cast<std::uint64_t>(update))));
    else
      target = combined(reduce, target, update);
  }
  return Tensor<F>(data.dtype(), data.shape(), std::move(values));
}

}  // namespace

// y[i][index[i][j][k]][k] = update[i][j][k] for axis 1.
KF_ORACLE_OPERATOR(ScatterElements) {
  const Tensor<F>&data = call.in(0), &indices = call.in(1), &updates = call.in(2);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), data.rank());
  if (indices.shape() != updates.shape() || indices.rank() != data.rank())
    refuse("indices of shape {} and updates of shape {} for data of shape {}", to_string(indices.shape()),
           to_string(updates.shape()), to_string(data.shape()));
  for (std::int64_t d = 0; d < data.rank(); ++d)
    if (d != axis && indices.dim(d) > data.dim(d))
      refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(data.shape()));
  const Shape strides = contiguous_strides(data.shape());
  return {scattered(data, updates, reduction_of(call.node), [&](std::int64_t i) {
    std::int64_t at = 0, rest = i;
    for (std::int64_t d = data.rank(); d-- > 0; rest /= indices.dim(d)) {
      const std::int64_t coordinate =
          d == axis ? normal_index(indices.ints()[static_cast<std::size_t>(i)], data.dim(axis))
                    : rest % indices.dim(d);
      at += coordinate * strides[static_cast<std::size_t>(d)];
    }
    return at;
  })};
}
KF_ORACLE_OPERATOR(Scatter) { return op_ScatterElements(call); }  // its name before opset 11

// The last axis of the indices holds coordinates of the elements or slices to write.
KF_ORACLE_OPERATOR(ScatterND) {
  const Tensor<F>&data = call.in(0), &indices = call.in(1), &updates = call.in(2);
  if (indices.rank() < 1) refuse("the indices have no axis of coordinates");
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > data.rank())
    refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(data.shape()));
  Shape wanted(indices.shape().begin(), indices.shape().end() - 1);
  const Shape slice_shape(data.shape().begin() + depth, data.shape().end());
  wanted.insert(wanted.end(), slice_shape.begin(), slice_shape.end());
  if (updates.shape() != wanted)
    refuse("updates of shape {} instead of {}", to_string(updates.shape()), to_string(wanted));
  const Shape strides = contiguous_strides(data.shape());
  const std::int64_t slice = element_count(slice_shape);
  return {scattered(data, updates, reduction_of(call.node), [&](std::int64_t i) {
    std::int64_t at = i % slice;
    for (std::int64_t d = 0; d < depth; ++d)
      at += normal_index(indices.ints()[static_cast<std::size_t>(i / slice * depth + d)], data.dim(d)) *
            strides[static_cast<std::size_t>(d)];
    return at;
  })};
}

KF_ORACLE_INSTANTIATE(ScatterElements)
KF_ORACLE_INSTANTIATE(Scatter)
KF_ORACLE_INSTANTIATE(ScatterND)

}  // namespace kforge
