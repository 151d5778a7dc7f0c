// Operators that give the same elements another shape: nothing is copied.
#include "oracle/call.h"

namespace kforge {
namespace {

// Axes as ONNX gives them: an input since opset 13, an attribute before. Normalised, each at most once.
template <class F>
std::vector<bool> chosen_axes(const Call<F>& call, std::int64_t rank) {
  std::vector<bool> chosen(static_cast<std::size_t>(rank));
  for (std::int64_t axis : call.has(1) ? call.ints(1) : call.node.ints_attr("axes")) {
    auto flag = chosen[static_cast<std::size_t>(normal_axis(axis, rank))];
    if (flag) refuse("axis {} is named twice", axis);
    flag = true;
  }
  return chosen;
}

}  // namespace

KF_ORACLE_OPERATOR(Identity) { return {call.in(0)}; }

// 0 keeps the input's dimension (unless allowzero), one -1 takes what is left.
KF_ORACLE_OPERATOR(Reshape) {
  const Tensor<F>& x = call.in(0);
  Shape shape = call.ints(1);
  const bool allow_zero = call.int_attr("allowzero", 0) != 0;
  std::int64_t known = 1, open = -1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allow_zero) {
      if (d >= x.shape().size())
        refuse("dimension {} of the new shape is copied from an input without it", d);
      shape[d] = x.shape()[d];
    }
    if (shape[d] == -1) {
      if (open >= 0) refuse("more than one dimension of the new shape is -1");
      open = static_cast<std::int64_t>(d);
    } else if (__builtin_mul_overflow(known, shape[d], &known)) {
      refuse("the new shape {} is too large", to_string(shape));
    }
  }
  if (open >= 0) {
    if (known == 0 || x.size() % known != 0)
      refuse("{} elements do not fit into shape {}", x.size(), to_string(shape));
    shape[static_cast<std::size_t>(open)] = x.size() / known;
  }
  return {x.reshaped(shape)};
}

KF_ORACLE_OPERATOR(Flatten) {
  const Tensor<F>& x = call.in(0);
  std::int64_t axis = call.int_attr("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    refuse("axis {} is outside of shape {}", axis, to_string(x.shape()));
  if (axis < 0) axis += x.rank();
  const auto middle = x.shape().begin() + axis;
  return {x.reshaped(
      {element_count(Shape(x.shape().begin(), middle)), element_count(Shape(middle, x.shape().end()))})};
}

KF_ORACLE_OPERATOR(Squeeze) {
  const Tensor<F>& x = call.in(0);
  const auto chosen = chosen_axes(call, x.rank());
  const bool all_ones = !call.has(1) && !call.node.has_attr("axes");
  Shape shape;
  for (std::size_t d = 0; d < x.shape().size(); ++d) {
    const std::int64_t dim = x.shape()[d];
    if (chosen[d] && dim != 1) refuse("axis {} of shape {} is not 1", d, to_string(x.shape()));
    if (!(chosen[d] || (all_ones && dim == 1))) shape.push_back(dim);
  }
  return {x.reshaped(shape)};
}

KF_ORACLE_OPERATOR(Unsqueeze) {
  const Tensor<F>& x = call.in(0);
  const std::size_t added = call.has(1) ? call.ints(1).size() : call.node.ints_attr("axes").size();
  const auto chosen = chosen_axes(call, x.rank() + static_cast<std::int64_t>(added));
  Shape shape;
  auto next = x.shape().begin();
  for (const bool is_new : chosen) shape.push_back(is_new ? 1 : *next++);
  return {x.reshaped(shape)};
}

KF_ORACLE_INSTANTIATE(Identity)
KF_ORACLE_INSTANTIATE(Reshape)
KF_ORACLE_INSTANTIATE(Flatten)
KF_ORACLE_INSTANTIATE(Squeeze)
KF_ORACLE_INSTANTIATE(Unsqueeze)

}  // namespace kforge
