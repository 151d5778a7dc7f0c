// Operators that make tensors from shapes and scalars.
#include <cmath>

#include "oracle/call.h"
#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {

KF_ORACLE_OPERATOR(Shape) {
  const Shape& shape = call.in(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = clamped(call.int_attr("start", 0)), end = clamped(call.int_attr("end", rank));
  std::vector<std::int64_t> dims;
  if (start < end) dims.assign(shape.begin() + start, shape.begin() + end);
  const auto count = static_cast<std::int64_t>(dims.size());
  return {Tensor<F>(DType::kInt64, {count}, std::move(dims))};
}

KF_ORACLE_OPERATOR(Size) {
  return {Tensor<F>(DType::kInt64, {}, std::vector<std::int64_t>{call.in(0).size()})};
}

KF_ORACLE_OPERATOR(Constant) {
  const Node& node = call.node;
  if (const ConstantTensor* value = node.tensor_attr("value")) return {Tensor<F>::from_constant(*value)};
  if (node.has_attr("value_int"))
    return {Tensor<F>(DType::kInt64, {}, std::vector<std::int64_t>{node.int_attr("value_int", 0)})};
  if (node.has_attr("value_float"))
    return {Tensor<F>(DType::kFloat32, {}, std::vector<F>{call.float_attr("value_float", 0)})};
  if (node.has_attr("value_ints")) {
    auto values = node.ints_attr("value_ints");
    const auto count = static_cast<std::int64_t>(values.size());
    return {Tensor<F>(DType::kInt64, {count}, std::move(values))};
  }
  if (node.has_attr("value_floats")) {
    const auto values = node.floats_attr("value_floats");
    return {Tensor<F>(DType::kFloat32, {static_cast<std::int64_t>(values.size())},
                      std::vector<F>(values.begin(), values.end()))};
  }
  refuse_unsupported("a constant that is no tensor of numbers");
}

KF_ORACLE_OPERATOR(ConstantOfShape) {
  const ConstantTensor* value = call.node.tensor_attr("value");
  const Tensor<F> scalar = value ? Tensor<F>::from_constant(*value) : Tensor<F>(DType::kFloat32, {1});
  if (scalar.size() != 1) refuse("value has {} elements instead of one", scalar.size());
  const Shape& shape = call.ints(0);
  checked_count(shape);
  return {strided_copy(scalar, shape, 0, Shape(shape.size(), 0), call.threads)};
}

KF_ORACLE_OPERATOR(Range) {
  const DType dtype = call.in(0).dtype();
  if (call.in(1).dtype() != dtype || call.in(2).dtype() != dtype)
    refuse("start, limit and delta have different types");
  auto counted = [](double count) {
    if (!(count < static_cast<double>(kMaxElements))) refuse("a range of {} elements is too large", count);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  };
  if (call.in(0).has_floats()) {
    const F start = call.scalar_float(0), limit = call.scalar_float(1), delta = call.scalar_float(2);
    Tensor<F> y(dtype, {counted(std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                          static_cast<double>(delta)))});
    for (std::int64_t i = 0; i < y.size(); ++i)
      y.new_floats()[static_cast<std::size_t>(i)] = start + static_cast<F>(i) * delta;
    return {y};
  }
  const std::int64_t start = call.scalar_int(0), limit = call.scalar_int(1), delta = call.scalar_int(2);
  if (delta == 0) refuse("the step of a range is zero");
  Tensor<F> y(dtype, {counted(std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                        static_cast<double>(delta)))});
  for (std::int64_t i = 0; i < y.size(); ++i)
    y.new_ints()[static_cast<std::size_t>(i)] = wrap_to(
        dtype, static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                         static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta)));
  return {y};
}

KF_ORACLE_OPERATOR(EyeLike) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() != 2) refuse("shape {} is no matrix", to_string(x.shape()));
  Tensor<F> y(dtype_attr(call, "dtype", x.dtype()), x.shape());
  const std::int64_t k = std::clamp(call.int_attr("k", 0), -x.dim(0), x.dim(1));
  for (std::int64_t row = std::max<std::int64_t>(0, -k); row < x.dim(0) && row + k < x.dim(1); ++row) {
    const auto at = static_cast<std::size_t>(row * x.dim(1) + row + k);
    if (y.has_floats())
      y.new_floats()[at] = 1;
    else
      y.new_ints()[at] = 1;
  }
  return {y};
}

// Inputs: indices, depth, (off, on). Indices outside of [-depth, depth) give a row without `on`.
KF_ORACLE_OPERATOR(OneHot) {
  const Tensor<F>& values = call.in(2);
  if (values.size() != 2) refuse("values has {} elements instead of two", values.size());
  const Tensor<F> indices = cast(call, call.in(0), DType::kInt64),
                  depths = cast(call, call.in(1), DType::kInt64);
  if (depths.size() != 1) refuse("depth has {} elements instead of one", depths.size());
  const std::int64_t depth = depths.ints()[0];
  std::int64_t axis = call.int_attr("axis", -1);
  axis = normal_axis(axis, indices.rank() + 1);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  Tensor<F> y(values.dtype(), shape);
  const AxisView view(shape, axis);
  auto fill = [&](const auto& off_on, auto& to) {
    std::fill(to.begin(), to.end(), off_on[0]);
    for (std::int64_t i = 0; i < indices.size(); ++i) {
      std::int64_t index = indices.ints()[static_cast<std::size_t>(i)];
      if (index < -depth || index >= depth) continue;
      if (index < 0) index += depth;
      to[static_cast<std::size_t>((i / view.inner * depth + index) * view.inner + i % view.inner)] =
          off_on[1];
    }
  };
  if (values.has_floats())
    fill(values.floats(), y.new_floats());
  else
    fill(values.ints(), y.new_ints());
  return {y};
}

// Indices of the elements that are not zero, one column for each.
KF_ORACLE_OPERATOR(NonZero) {
  const Tensor<F>& x = call.in(0);
  std::vector<std::int64_t> found;
  x.visit([&]<class Values>(const Values& values) {
    if constexpr (!std::is_same_v<Values, std::vector<std::string>>)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0) found.push_back(static_cast<std::int64_t>(i));
  });
  const auto count = static_cast<std::int64_t>(found.size());
  Tensor<F> y(DType::kInt64, {x.rank(), count});
  for (std::int64_t j = 0; j < count; ++j) {
    std::int64_t rest = found[static_cast<std::size_t>(j)];
    for (std::int64_t d = x.rank(); d-- > 0;) {
      y.new_ints()[static_cast<std::size_t>(d * count + j)] = rest % x.dim(d);
      rest /= x.dim(d);
    }
  }
  return {y};
}

KF_ORACLE_INSTANTIATE(Shape)
KF_ORACLE_INSTANTIATE(Size)
KF_ORACLE_INSTANTIATE(Constant)
KF_ORACLE_INSTANTIATE(ConstantOfShape)
KF_ORACLE_INSTANTIATE(Range)
KF_ORACLE_INSTANTIATE(EyeLike)
KF_ORACLE_INSTANTIATE(OneHot)
KF_ORACLE_INSTANTIATE(NonZero)

}  // namespace kforge
