// Operators that rearrange or repeat elements by steady steps: each is one strided copy.
#include <numeric>

#include "oracle/call.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

template <class F>
Tensor<F> transposed(const Tensor<F>& x, const std::vector<std::int64_t>& order, int threads) {
  const Shape strides = contiguous_strides(x.shape());
  Shape shape, steps;
  for (std::int64_t axis : order) {
    shape.push_back(x.dim(axis));
    steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return strided_copy(x, shape, 0, steps, threads);
}

// A slice along every axis, in the terms of a strided copy.
struct Slice {
  Shape shape, strides;
  std::int64_t base = 0;

  explicit Slice(const Shape& from) : shape(from), strides(contiguous_strides(from)) {}

  // Keeps start, start + step, ... before end; limits outside of the axis are moved to its edge as ONNX says.
  void take(std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (step == 0) refuse("the step of axis {} is zero", axis);
    const auto d = static_cast<std::size_t>(axis);
    const std::int64_t size = shape[d];
    auto from_front = [&](std::int64_t i) { return i < 0 ? (i < -size ? -1 : i + size) : i; };
    if (step > 0) {
      start = std::clamp<std::int64_t>(start < -size ? 0 : from_front(start), 0, size);
      end = std::clamp<std::int64_t>(end < -size ? 0 : from_front(end), 0, size);
      shape[d] = start < end ? (end - start - 1) / step + 1 : 0;
    } else {
      start = std::clamp<std::int64_t>(from_front(start), -1, size - 1);
      end = std::clamp<std::int64_t>(from_front(end), -1, size - 1);
      // A step below -size takes one element, and -step could overflow.
      const std::int64_t stride = step < -size ? size : -step;
      shape[d] = end < start ? (start - end - 1) / std::max<std::int64_t>(stride, 1) + 1 : 0;
    }
    if (shape[d] > 0) base += start * strides[d];
    if (shape[d] > 1) strides[d] *= step;  // |step| < size, so this cannot overflow
  }
};

}  // namespace

KF_ORACLE_OPERATOR(Transpose) {
  const Tensor<F>& x = call.in(0);
  std::vector<std::int64_t> order = call.node.ints_attr("perm");
  if (order.empty()) {
    order.resize(x.shape().size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  std::vector<std::int64_t> sorted = order, every(x.shape().size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(every.begin(), every.end(), 0);
  if (sorted != every)
    refuse("perm {} is no order of the axes of shape {}", to_string(order), to_string(x.shape()));
  return {transposed(x, order, call.threads)};
}

KF_ORACLE_OPERATOR(Expand) {
  const Tensor<F>& x = call.in(0);
  const Shape& wanted = call.ints(1);
  checked_count(wanted);
  const Shape shape = broadcast_shape(x.shape(), wanted);
  checked_count(shape);
  return {strided_copy(x, shape, 0, broadcast_strides(x.shape(), shape), call.threads)};
}

// Every axis becomes (repeats, dimension), of which the first does not move in the source.
KF_ORACLE_OPERATOR(Tile) {
  const Tensor<F>& x = call.in(0);
  const auto& repeats = call.ints(1);
  if (repeats.size() != x.shape().size())
    refuse("{} repeats for shape {}", repeats.size(), to_string(x.shape()));
  const Shape strides = contiguous_strides(x.shape());
  Shape split, steps, result;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0) refuse("axis {} is repeated {} times", d, repeats[d]);
    split.insert(split.end(), {repeats[d], x.shape()[d]});
    steps.insert(steps.end(), {0, strides[d]});
  }
  checked_count(split);
  for (std::size_t d = 0; d < repeats.size(); ++d) result.push_back(repeats[d] * x.shape()[d]);
  return {strided_copy(x, split, 0, steps, call.threads).reshaped(result)};
}

// Inputs: data, starts, ends, axes, steps.
KF_ORACLE_OPERATOR(Slice) {
  const Tensor<F>& x = call.in(0);
  const auto& starts = call.ints(1);
  const auto& ends = call.ints(2);
  std::vector<std::int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = call.ints(3);
  if (call.has(4)) steps = call.ints(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    refuse("starts, ends, axes and steps have different lengths");
  Slice slice(x.shape());
  std::vector<bool> seen(x.shape().size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = normal_axis(axes[i], x.rank());
    if (seen[static_cast<std::size_t>(axis)]) refuse("axis {} is sliced twice", axis);
    seen[static_cast<std::size_t>(axis)] = true;
    slice.take(axis, starts[i], ends[i], steps[i]);
  }
  return {strided_copy(x, slice.shape, slice.base, slice.strides, call.threads)};
}

// Sizes of the pieces are an input (or, before opset 13, an attribute); without them the pieces are equal.
KF_ORACLE_OPERATOR(Split) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), x.rank());
  std::vector<std::int64_t> sizes = call.has(1) ? call.ints(1) : call.node.ints_attr("split");
  if (sizes.empty()) {
    const auto pieces = static_cast<std::int64_t>(call.node.outputs.size());
    if (pieces == 0 || x.dim(axis) % pieces != 0)
      refuse("axis of {} is split into {} equal pieces", x.dim(axis), pieces);
    sizes.assign(static_cast<std::size_t>(pieces), x.dim(axis) / pieces);
  }
  Outputs<F> outputs;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    if (size < 0 || size > x.dim(axis) - start)
      refuse("pieces {} do not fit an axis of {}", to_string(sizes), x.dim(axis));
    Slice slice(x.shape());
    slice.take(axis, start, start + size, 1);
    outputs.push_back(strided_copy(x, slice.shape, slice.base, slice.strides, call.threads));
    start += size;
  }
  if (start != x.dim(axis)) refuse("pieces {} do not fill an axis of {}", to_string(sizes), x.dim(axis));
  return outputs;
}

// Blocks of the channels become blocks of the picture, and back.
KF_ORACLE_OPERATOR(DepthToSpace) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t b = call.int_attr("blocksize", 0);
  if (x.rank() != 4 || b <= 0 || b > (1 << 15) || x.dim(1) % (b * b) != 0)
    refuse("shape {} has no depth to give to blocks of {}", to_string(x.shape()), b);
  const std::int64_t n = x.dim(0), c = x.dim(1) / (b * b), h = x.dim(2), w = x.dim(3);
  const bool depth_first = call.node.string_attr("mode", "DCR") == "DCR";
  const Tensor<F> split = depth_first ? x.reshaped({n, b, b, c, h, w}) : x.reshaped({n, c, b, b, h, w});
  const std::vector<std::int64_t> order =
      depth_first ? std::vector<std::int64_t>{0, 3, 4, 1, 5, 2} : std::vector<std::int64_t>{0, 1, 4, 2, 5, 3};
  return {transposed(split, order, call.threads).reshaped({n, c, h * b, w * b})};
}

KF_ORACLE_OPERATOR(SpaceToDepth) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t b = call.int_attr("blocksize", 0);
  if (x.rank() != 4 || b <= 0 || b > (1 << 15) || x.dim(2) % b != 0 || x.dim(3) % b != 0)
    refuse("shape {} does not divide into blocks of {}", to_string(x.shape()), b);
  const std::int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / b, w = x.dim(3) / b;
  return {transposed(x.reshaped({n, c, h, b, w, b}), {0, 3, 5, 1, 2, 4}, call.threads)
              .reshaped({n, c * b * b, h, w})};
}

KF_ORACLE_INSTANTIATE(Transpose)
KF_ORACLE_INSTANTIATE(Expand)
KF_ORACLE_INSTANTIATE(Tile)
KF_ORACLE_INSTANTIATE(Slice)
KF_ORACLE_INSTANTIATE(Split)
KF_ORACLE_INSTANTIATE(DepthToSpace)
KF_ORACLE_INSTANTIATE(SpaceToDepth)

}  // namespace kforge
