// Reading at indices.
#include "oracle/call.h"
#include "oracle/ops/operators.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

// Calls fn(from, to) with the elements of both tensors, which are of one kind.
template <class F, class Fn>
void with_elements(const Tensor<F>& from, Tensor<F>& to, const Fn& fn) {
  to.visit_new([&]<class Values>(Values& new_values) {
    from.visit([&]<class Other>(const Other& values) {
      if constexpr (std::is_same_v<Values, Other>) fn(values, new_values);
    });
  });
}

}  // namespace

// Whole slices along an axis: the shape of the indices takes the axis' place.
KF_ORACLE_OPERATOR(Gather) {
  const Tensor<F>&x = call.in(0), &indices = call.in(1);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), x.rank());
  const AxisView view(x.shape(), axis);
  std::vector<std::int64_t> chosen;
  for (std::int64_t index : indices.ints()) chosen.push_back(normal_index(index, view.length));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  Tensor<F> y(x.dtype(), shape);
  const auto count = static_cast<std::int64_t>(chosen.size());
  with_elements(x, y, [&](const auto& from, auto& to) {
    call.parallel(view.outer * count, view.inner, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t slice = i / count * view.length + chosen[static_cast<std::size_t>(i % count)];
        std::copy_n(from.begin() + slice * view.inner, view.inner, to.begin() + i * view.inner);
      }
    });
  });
  return {y};
}

// y[i][j][k] = x[i][index[i][j][k]][k] for axis 1: single elements, each with its own index.
KF_ORACLE_OPERATOR(GatherElements) {
  const Tensor<F>&x = call.in(0), &indices = call.in(1);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), x.rank());
  if (indices.rank() != x.rank())
    refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(x.shape()));
  for (std::int64_t d = 0; d < x.rank(); ++d)
    if (d != axis && indices.dim(d) > x.dim(d))
      refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(x.shape()));
  Tensor<F> y(x.dtype(), indices.shape());
  Shape strides = contiguous_strides(x.shape());
  const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
  strides[static_cast<std::size_t>(axis)] = 0;
  const Walk<1> walk(indices.shape(), {strides});
  const auto& index = indices.ints();
  with_elements(x, y, [&](const auto& from, auto& to) {
    call.parallel(y.size(), 4, [&](std::int64_t begin, std::int64_t end) {
      walk.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
        for (std::int64_t j = 0; j < count; ++j) {
          const auto at = static_cast<std::size_t>(position + j);
          to[at] = from[static_cast<std::size_t>(offsets[0] + j * walk.inner(0) +
                                                 normal_index(index[at], x.dim(axis)) * stride)];
        }
      });
    });
  });
  return {y};
}

// The last axis of the indices holds coordinates of elements or slices.
KF_ORACLE_OPERATOR(GatherND) {
  const Tensor<F>&x = call.in(0), &indices = call.in(1);
  const std::int64_t batch_dims = call.int_attr("batch_dims", 0);
  if (indices.rank() < 1 || batch_dims < 0 || batch_dims >= indices.rank() || batch_dims > x.rank())
    refuse("indices of shape {} with {} batch dimensions", to_string(indices.shape()), batch_dims);
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > x.rank() - batch_dims)
    refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(x.shape()));
  for (std::int64_t d = 0; d < batch_dims; ++d)
    if (x.dim(d) != indices.dim(d))
      refuse("batches of shapes {} and {}", to_string(x.shape()), to_string(indices.shape()));
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  const Shape slice_shape(x.shape().begin() + batch_dims + depth, x.shape().end());
  shape.insert(shape.end(), slice_shape.begin(), slice_shape.end());
  Tensor<F> y(x.dtype(), shape);
  const Shape strides = contiguous_strides(x.shape());
  const std::int64_t slice = element_count(slice_shape);
  const std::int64_t batches = element_count(Shape(x.shape().begin(), x.shape().begin() + batch_dims));
  const std::int64_t picks = slice == 0 ? 0 : y.size() / slice,
                     per_batch = batches == 0 ? 1 : std::max<std::int64_t>(picks / batches, 1);
  const std::int64_t batch_size = batches == 0 ? 0 : x.size() / batches;
  with_elements(x, y, [&](const auto& from, auto& to) {
    for (std::int64_t p = 0; p < picks; ++p) {
      std::int64_t at = p / per_batch * batch_size;
      for (std::int64_t d = 0; d < depth; ++d)
        at += normal_index(indices.ints()[static_cast<std::size_t>(p * depth + d)], x.dim(batch_dims + d)) *
              strides[static_cast<std::size_t>(batch_dims + d)];
      std::copy_n(from.begin() + at, slice, to.begin() + p * slice);
    }
  });
  return {y};
}

// Slices (or, without an axis, elements) where the condition holds.
KF_ORACLE_OPERATOR(Compress) {
  const bool flat = !call.node.has_attr("axis");
  const Tensor<F> x = flat ? call.in(0).reshaped({call.in(0).size()}) : call.in(0);
  const std::int64_t axis = flat ? 0 : normal_axis(call.int_attr("axis", 0), x.rank());
  const auto& condition = call.ints(1);
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i]) chosen.push_back(static_cast<std::int64_t>(i));
  Node node{.name = call.node.name};
  node.attributes["axis"] = axis;
  const auto count = static_cast<std::int64_t>(chosen.size());
  const Tensor<F> indices(DType::kInt64, {count}, std::move(chosen));
  return op_Gather(Call<F>{node, {&x, &indices}, call.threads, call.scope});
}

// The first lengths[b] steps of every sequence are turned around.
KF_ORACLE_OPERATOR(ReverseSequence) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t time_axis = call.int_attr("time_axis", 0), batch_axis = call.int_attr("batch_axis", 1);
  if (x.rank() < 2 || time_axis + batch_axis != 1 || time_axis * batch_axis != 0)
    refuse("time_axis {} and batch_axis {}", time_axis, batch_axis);
  const auto& lengths = call.ints(1);
  const std::int64_t steps = x.dim(time_axis), batches = x.dim(batch_axis);
  if (static_cast<std::int64_t>(lengths.size()) != batches)
    refuse("{} lengths for {} sequences", lengths.size(), batches);
  for (std::int64_t length : lengths)
    if (length < 0 || length > steps) refuse("a length of {} in sequences of {}", length, steps);
  Tensor<F> y(x.dtype(), x.shape());
  const std::int64_t slice = steps * batches == 0 ? 0 : x.size() / (steps * batches);
  auto offset = [&](std::int64_t t, std::int64_t b) {
    return (time_axis == 0 ? t * batches + b : b * steps + t) * slice;
  };
  with_elements(x, y, [&](const auto& from, auto& to) {
    for (std::int64_t b = 0; b < batches; ++b)
      for (std::int64_t t = 0; t < steps; ++t) {
        const std::int64_t length = lengths[static_cast<std::size_t>(b)];
        std::copy_n(from.begin() + offset(t < length ? length - 1 - t : t, b), slice,
                    to.begin() + offset(t, b));
      }
  });
  return {y};
}

KF_ORACLE_INSTANTIATE(Gather)
KF_ORACLE_INSTANTIATE(GatherElements)
KF_ORACLE_INSTANTIATE(GatherND)
KF_ORACLE_INSTANTIATE(Compress)
KF_ORACLE_INSTANTIATE(ReverseSequence)

}  // namespace kforge
