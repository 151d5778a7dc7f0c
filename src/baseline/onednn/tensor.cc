#include "baseline/onednn/tensor.h"

namespace kforge::onednn {

bool Tensor::dense() const { return !blocked && (strides == dense_strides(shape) || count() <= 1); }

Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

dnnl::memory::desc describe(const Tensor& tensor) {
  if (tensor.blocked) return *tensor.blocked;
  if (tensor.shape.empty()) return describe_dense({1});
  return {tensor.shape, dnnl::memory::data_type::f32, tensor.strides};
}

dnnl::memory::desc describe_dense(const Shape& shape) {
  return {shape, dnnl::memory::data_type::f32, dense_strides(shape)};
}

std::optional<Tensor> reshaped(const Tensor& tensor, const Shape& shape) {
  if (tensor.blocked) return std::nullopt;
  Tensor view = tensor;
  view.shape = shape;
  if (tensor.dense()) {
    view.strides = dense_strides(shape);
    return view;
  }
  // Walk both shapes from the end, matching groups of equal size; inside a group the old strides must be
  // dense.
  view.strides.assign(shape.size(), 0);
  std::size_t old_at = tensor.shape.size(), new_at = shape.size();
  while (old_at > 0 && new_at > 0) {
    std::int64_t old_size = tensor.shape[--old_at], new_size = shape[--new_at];
    std::size_t old_end = old_at + 1, new_end = new_at + 1;
    while (old_size != new_size) {
      if (old_size < new_size) {
        if (old_at == 0) return std::nullopt;
        old_size *= tensor.shape[--old_at];
      } else {
        if (new_at == 0) return std::nullopt;
        new_size *= shape[--new_at];
      }
    }
    std::int64_t stride = 1, reach = 1;
    bool first = true;
    for (std::size_t d = old_end; d-- > old_at;) {
      if (tensor.shape[d] == 1) continue;
      if (first)
        stride = tensor.strides[d];
      else if (tensor.strides[d] != stride * reach)
        return std::nullopt;
      first = false;
      reach *= tensor.shape[d];
    }
    for (std::size_t d = new_end; d-- > new_at;) {
      view.strides[d] = stride;
      stride *= shape[d];
    }
  }
  while (old_at > 0)
    if (tensor.shape[--old_at] != 1) return std::nullopt;
  while (new_at > 0)
    if (shape[--new_at] != 1) return std::nullopt;
  return view;
}

Tensor expanded(const Tensor& tensor, const Shape& shape) {
  Tensor view = tensor;
  view.shape = shape;
  view.strides.assign(shape.size(), 0);
  if (tensor.shape.size() > shape.size()) throw Unsupported("a tensor cannot be broadcast to a lower rank");
  std::size_t lead = shape.size() - tensor.shape.size();
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] == shape[lead + d])
      view.strides[lead + d] = shape[lead + d] == 1 ? 0 : tensor.strides[d];
    else if (tensor.shape[d] != 1)
      throw Unsupported("shapes do not broadcast: " + to_string(tensor.shape) + " to " + to_string(shape));
  }
  return view;
}

Tensor permuted(const Tensor& tensor, const std::vector<std::int64_t>& order) {
  Tensor view = tensor;
  for (std::size_t d = 0; d < order.size(); ++d) {
    view.shape[d] = tensor.shape[static_cast<std::size_t>(order[d])];
    view.strides[d] = tensor.strides[static_cast<std::size_t>(order[d])];
  }
  return view;
}

loops::Walk make_walk(const Shape& shape, const std::vector<const Tensor*>& operands) {
  loops::Walk walk;
  auto joins = [&](int last, std::size_t d) {
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (walk.stride[k][last] != operands[k]->strides[d] * shape[d]) return false;
    return true;
  };
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (walk.rank > 0 && joins(walk.rank - 1, d)) {
      walk.size[walk.rank - 1] *= shape[d];
    } else {
      if (walk.rank == loops::kMaxRank) throw Unsupported("more than 8 dimensions");
      walk.size[walk.rank++] = shape[d];
    }
    for (std::size_t k = 0; k < operands.size(); ++k) walk.stride[k][walk.rank - 1] = operands[k]->strides[d];
  }
  if (walk.rank == 0) walk.size[walk.rank++] = 1;
  return walk;
}

loops::Number number_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return loops::Number::kFloat;
    case DType::kInt8:
      return loops::Number::kInt8;
    case DType::kUInt8:
    case DType::kBool:
      return loops::Number::kUInt8;
    case DType::kInt32:
      return loops::Number::kInt32;
    case DType::kInt64:
      return loops::Number::kInt64;
    case DType::kBFloat16:
      return loops::Number::kBFloat16;
    case DType::kFloat16:
      return loops::Number::kFloat16;
    default:
      throw Unsupported(std::string(name_of(dtype)) + " tensors are not implemented");
  }
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t all = 1;
  for (std::size_t d = begin; d < end; ++d) all *= shape[d];
  return all;
}

std::int64_t normal_axis(std::int64_t axis, std::size_t rank) {
  std::int64_t normal = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (normal < 0 || normal > static_cast<std::int64_t>(rank))
    throw Unsupported("an axis lies outside the rank");
  return normal;
}

}  // namespace kforge::onednn
