// Operators that only say where elements lie. Views cost nothing; copies are one strided loop.
#include <algorithm>
#include <cstring>
#include <limits>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

void emit_reshape(Builder& b, const Node& node) {
  Shape shape = b.shape_of(node.outputs[0]);
  Tensor x = b.plain(b.raw_input(node, 0));
  if (element_count(shape) != x.count()) throw Unsupported("the sizes do not fit");
  auto view = reshaped(x, shape);
  b.set_output(node, 0, view ? *view : *reshaped(b.dense(x), shape));
}

void emit_identity(Builder& b, const Node& node) {
  if (b.wants_output(node, 1)) throw Unsupported("the mask of Dropout is not implemented");
  if (node.op == "Dropout" && b.has_input(node, 2) && b.constant_scalar(node, 2, 0) != 0)
    throw Unsupported("Dropout in training is random");
  b.set_output(node, 0, b.raw_input(node, 0));
}

void emit_transpose(Builder& b, const Node& node) {
  Tensor x = b.plain(b.raw_input(node, 0));
  std::vector<std::int64_t> order = node.ints_attr("perm");
  if (order.empty())
    for (std::int64_t d = x.rank(); d-- > 0;) order.push_back(d);
  b.set_output(node, 0, permuted(x, order));
}

void emit_expand(Builder& b, const Node& node) {
  b.set_output(node, 0, expanded(b.plain(b.raw_input(node, 0)), b.shape_of(node.outputs[0])));
}

void emit_slice(Builder& b, const Node& node) {
  Tensor x = b.plain(b.raw_input(node, 0));
  auto starts = b.constant_ints(node, 1), ends = b.constant_ints(node, 2);
  std::vector<std::int64_t> axes, steps(starts.size(), 1);
  if (b.has_input(node, 3))
    axes = b.constant_ints(node, 3);
  else
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (b.has_input(node, 4)) steps = b.constant_ints(node, 4);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    auto a = static_cast<std::size_t>(normal_axis(axes.at(i), x.shape.size()));
    std::int64_t size = x.shape[a], step = steps.at(i), start = starts[i], end = ends.at(i);
    if (step == 0) throw Unsupported("a step of zero");
    if (start < 0) start += size;
    if (end < 0) end = end < -size ? -1 : end + size;
    if (step > 0)
      start = std::clamp<std::int64_t>(start, 0, size), end = std::clamp<std::int64_t>(end, 0, size);
    else
      start = std::clamp<std::int64_t>(start, 0, size - 1), end = std::clamp<std::int64_t>(end, -1, size - 1);
    std::int64_t count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    x.offset += start * x.strides[a];
    x.strides[a] *= step;
    x.shape[a] = std::max<std::int64_t>(count, 0);
  }
  b.set_output(node, 0, x);
}

// A part [begin, begin + count) of one axis.
Tensor part_of(Tensor x, std::size_t axis, std::int64_t begin, std::int64_t count) {
  x.offset += begin * x.strides[axis];
  x.shape[axis] = count;
  return x;
}

void emit_split(Builder& b, const Node& node) {
  Tensor x = b.plain(b.raw_input(node, 0));
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", 0), x.shape.size()));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    std::int64_t count = b.shape_of(node.outputs[i])[axis];
    b.set_output(node, i, part_of(x, axis, at, count));
    at += count;
  }
}

void emit_concat(Builder& b, const Node& node) {
  DType dtype = b.raw_input(node, 0).dtype;
  bool same = std::ranges::all_of(node.inputs, [&, i = std::size_t{0}](const std::string&) mutable {
    return b.raw_input(node, i++).dtype == dtype;
  });
  Tensor y = same ? b.output_as(node, 0, dtype) : b.output(node, 0);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", 0), y.shape.size()));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Tensor x = same ? b.plain(b.raw_input(node, i)) : b.plain_input(node, i);
    if (x.count() > 0) b.copy(x, part_of(y, axis, at, x.shape[axis]));
    at += x.shape[axis];
  }
}

void fill(Builder& b, const Tensor& y, const std::vector<std::byte>& element) {
  std::size_t bytes = size_of(y.dtype);
  if (element.size() < bytes) throw Unsupported("a fill value of another type");
  Tensor one = b.temporary(y.dtype, {});
  b.step("fill value", {one}, [=](const Pointers& p) { std::memcpy(p.raw(one), element.data(), bytes); });
  b.copy(expanded(one, y.shape), y);
}

void emit_pad(Builder& b, const Node& node) {
  Tensor x = b.plain_input(node, 0);
  if (node.string_attr("mode", "constant") != "constant")
    throw Unsupported("only constant padding is implemented");
  auto pads = b.constant_ints(node, 1);
  std::size_t rank = x.shape.size();
  std::vector<std::int64_t> axes;
  if (b.has_input(node, 3))
    axes = b.constant_ints(node, 3);
  else
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  double value = b.constant_scalar(node, 2, 0);
  Tensor y = b.output(node, 0), inside = y;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto a = static_cast<std::size_t>(normal_axis(axes[i], rank));
    std::int64_t before = pads.at(i), after = pads.at(axes.size() + i);
    // A negative amount cuts elements off.
    if (before < 0) x = part_of(x, a, -before, x.shape[a] + before);
    if (after < 0) x = part_of(x, a, 0, x.shape[a] + after);
    inside = part_of(inside, a, std::max<std::int64_t>(before, 0), x.shape[a]);
  }
  std::vector<std::byte> element(8);
  if (y.dtype == DType::kFloat32) {
    float f = static_cast<float>(value);
    std::memcpy(element.data(), &f, sizeof f);
  } else {
    auto n = static_cast<std::int64_t>(value);
    std::memcpy(element.data(), &n, sizeof n);
  }
  fill(b, y, element);
  if (x.count() > 0) b.copy(x, inside);
}

void emit_tile(Builder& b, const Node& node) {
  Tensor x = b.plain(b.raw_input(node, 0)), y = b.output_as(node, 0, x.dtype);
  // The result as [repeat, size, repeat, size, ...] is a broadcast of [1, size, 1, size, ...].
  Shape split, own, strides;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    std::int64_t size = x.shape[d];
    split.insert(split.end(), {size ? y.shape[d] / size : 0, size});
    own.insert(own.end(), {1, size});
    strides.insert(strides.end(), {0, x.strides[d]});
  }
  x.shape = own;
  x.strides = strides;
  b.copy(expanded(x, split), *reshaped(y, split));
}

void emit_trilu(Builder& b, const Node& node) {
  Tensor x = b.dense(b.raw_input(node, 0)), y = b.output_as(node, 0, x.dtype);
  bool upper = node.int_attr("upper", 1) != 0;
  auto k = static_cast<std::int64_t>(b.constant_scalar(node, 1, 0));
  std::size_t rank = x.shape.size();
  std::int64_t rows = product(x.shape, 0, rank - 1), height = x.shape[rank - 2], width = x.shape[rank - 1];
  auto bytes = static_cast<std::int64_t>(size_of(x.dtype));
  b.step("loop", {x, y}, [=](const Pointers& p) {
    const std::byte* from = p.raw(x);
    std::byte* to = p.raw(y);
#pragma omp parallel for schedule(static) if (rows * width > 16384)
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t edge = std::clamp<std::int64_t>(r % height + k + (upper ? 0 : 1), 0, width) * bytes,
                   all = width * bytes;
      const std::byte* source = from + r * all;
      std::byte* row = to + r * all;
      auto length = [](std::int64_t n) { return static_cast<std::size_t>(n); };
      if (upper) {
        std::memset(row, 0, length(edge));
        std::memmove(row + edge, source + edge, length(all - edge));
      } else {
        std::memmove(row, source, length(edge));
        std::memset(row + edge, 0, length(all - edge));
      }
    }
  });
}

void emit_depth_to_space(Builder& b, const Node& node) {
  Tensor x = b.dense(b.raw_input(node, 0)), y = b.output_as(node, 0, x.dtype);
  std::int64_t s = node.int_attr("blocksize", 1), n = x.shape[0], c = x.shape[1], h = x.shape[2],
               w = x.shape[3];
  if (node.op == "SpaceToDepth")
    return b.copy(permuted(*reshaped(x, {n, c, h / s, s, w / s, s}), {0, 3, 5, 1, 2, 4}),
                  *reshaped(y, {n, s, s, c, h / s, w / s}));
  bool dcr = node.string_attr("mode", "DCR") == "DCR";
  Tensor split = dcr ? permuted(*reshaped(x, {n, s, s, c / (s * s), h, w}), {0, 3, 4, 1, 5, 2})
                     : permuted(*reshaped(x, {n, c / (s * s), s, s, h, w}), {0, 1, 4, 2, 5, 3});
  b.copy(split, *reshaped(y, {n, c / (s * s), h, s, w, s}));
}

void emit_constant_of_shape(Builder& b, const Node& node) {
  Tensor y = b.output(node, 0);
  const ConstantTensor* value = node.tensor_attr("value");
  fill(b, y, value ? value->data : std::vector<std::byte>(8));
}

void emit_constant(Builder& b, const Node& node) {
  const ConstantTensor* value = node.tensor_attr("value");
  if (!value) throw Unsupported("only tensor constants are implemented");
  Tensor y = b.output(node, 0);
  if (value->dtype != y.dtype) throw Unsupported("constants of this type are not implemented");
  b.step("constant", {y},
         [=](const Pointers& p) { std::memcpy(p.raw(y), value->data.data(), value->data.size()); });
}

}  // namespace

const OperatorTable& layout_operators() {
  static const OperatorTable kTable = {{"Reshape", emit_reshape},
                                       {"Flatten", emit_reshape},
                                       {"Squeeze", emit_reshape},
                                       {"Unsqueeze", emit_reshape},
                                       {"Identity", emit_identity},
                                       {"Dropout", emit_identity},
                                       {"Transpose", emit_transpose},
                                       {"Expand", emit_expand},
                                       {"Slice", emit_slice},
                                       {"Split", emit_split},
                                       {"Concat", emit_concat},
                                       {"Pad", emit_pad},
                                       {"Tile", emit_tile},
                                       {"Trilu", emit_trilu},
                                       {"DepthToSpace", emit_depth_to_space},
                                       {"SpaceToDepth", emit_depth_to_space},
                                       {"ConstantOfShape", emit_constant_of_shape},
                                       {"Constant", emit_constant}};
  return kTable;
}

}  // namespace kforge::onednn
