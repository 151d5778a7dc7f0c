// Operators that pick or place elements by index.
#include <algorithm>
#include <cstring>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

Tensor as_int64(Builder& b, const Tensor& index) {
  Tensor x = b.dense(index);
  if (x.dtype == DType::kInt64) return x;
  Tensor wide = b.temporary(DType::kInt64, x.shape);
  b.convert("convert", x, wide);
  return wide;
}

void emit_gather(Builder& b, const Node& node) {
  Tensor x = b.dense(b.raw_input(node, 0)), index = as_int64(b, b.input(node, 1)),
         y = b.output_as(node, 0, x.dtype);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", 0), x.shape.size()));
  std::int64_t outer = product(x.shape, 0, axis), limit = x.shape[axis],
               inner = product(x.shape, axis + 1, x.shape.size());
  b.step("loop", {x, index, y},
         [=, bytes = static_cast<int>(size_of(x.dtype)), count = index.count()](const Pointers& p) {
           loops::loops().gather(bytes, p.raw(x), p.get<long long>(index), p.raw(y), outer, limit, count,
                                 inner);
         });
}

// Offset in `data` of element `flat` of `shape`, with coordinate `axis` replaced by `index`. -1: out of
// range.
std::int64_t place(const Shape& shape, const Shape& data, std::size_t axis, std::int64_t flat,
                   std::int64_t index) {
  Shape strides = dense_strides(data);
  std::int64_t at = 0;
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::int64_t i = flat % shape[d];
    flat /= shape[d];
    if (d == axis) {
      i = index < 0 ? index + data[d] : index;
      if (i < 0 || i >= data[d]) return -1;
    }
    at += i * strides[d];
  }
  return at;
}

void emit_gather_elements(Builder& b, const Node& node) {
  Tensor x = b.dense(b.raw_input(node, 0)), index = as_int64(b, b.input(node, 1)),
         y = b.output_as(node, 0, x.dtype);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", 0), x.shape.size()));
  b.step("loop", {x, index, y}, [=, bytes = size_of(x.dtype)](const Pointers& p) {
    const auto* indices = p.get<std::int64_t>(index);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < index.count(); ++i) {
      std::int64_t from = place(index.shape, x.shape, axis, i, indices[i]);
      if (from >= 0)
        std::memcpy(p.raw(y) + i * static_cast<std::int64_t>(bytes),
                    p.raw(x) + from * static_cast<std::int64_t>(bytes), bytes);
    }
  });
}

struct ScatterOperands {
  Tensor data, updates, result;
};

// As stored when elements are only moved. The result may be the data's own memory (an inout).
ScatterOperands scatter_operands(Builder& b, const Node& node, bool moves) {
  moves = moves && b.raw_input(node, 0).dtype == b.raw_input(node, 2).dtype;
  Tensor data = moves ? b.dense(b.raw_input(node, 0)) : b.dense_input(node, 0);
  Tensor updates = moves ? b.dense(b.raw_input(node, 2)) : b.dense_input(node, 2);
  return {data, updates, b.output_as(node, 0, data.dtype)};
}

void emit_scatter_elements(Builder& b, const Node& node) {
  std::string mode = node.string_attr("reduction", "none");
  auto [x, updates, y] = scatter_operands(b, node, mode == "none");
  Tensor index = as_int64(b, b.input(node, 1));
  if (mode != "none" && (mode != "add" || x.dtype != DType::kFloat32))
    throw Unsupported("reduction " + mode + " is not implemented");
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", 0), x.shape.size()));
  if (x.buffer != y.buffer) b.copy(x, y);
  b.step("loop", {index, updates, y}, [=, add = mode == "add", bytes = size_of(x.dtype)](const Pointers& p) {
    const auto* indices = p.get<std::int64_t>(index);
    for (std::int64_t i = 0; i < index.count(); ++i) {  // in order: later updates win
      std::int64_t to = place(index.shape, x.shape, axis, i, indices[i]);
      if (to < 0) continue;
      if (add)
        p.get<float>(y)[to] += p.get<float>(updates)[i];
      else
        std::memcpy(p.raw(y) + to * static_cast<std::int64_t>(bytes),
                    p.raw(updates) + i * static_cast<std::int64_t>(bytes), bytes);
    }
  });
}

// GatherND and ScatterND: the last dimension of the indices names a place in the leading dimensions of the
// data.
struct Places {
  std::int64_t count, depth, inner;
  Shape limits, steps;
};

Places places_of(const Shape& data, const Shape& index, std::size_t batch) {
  Places places;
  places.depth = index.back();
  places.count = product(index, 0, index.size() - 1);
  auto used = batch + static_cast<std::size_t>(places.depth);
  places.inner = product(data, used, data.size());
  for (std::size_t d = batch; d < used; ++d) {
    places.limits.push_back(data[d]);
    places.steps.push_back(product(data, d + 1, data.size()));
  }
  return places;
}

std::int64_t offset_of(const Places& places, const std::int64_t* index) {
  std::int64_t at = 0;
  for (std::int64_t d = 0; d < places.depth; ++d) {
    auto k = static_cast<std::size_t>(d);
    std::int64_t i = index[d] < 0 ? index[d] + places.limits[k] : index[d];
    if (i < 0 || i >= places.limits[k]) return -1;
    at += i * places.steps[k];
  }
  return at;
}

void emit_gather_nd(Builder& b, const Node& node) {
  Tensor x = b.dense(b.raw_input(node, 0)), index = as_int64(b, b.input(node, 1)),
         y = b.output_as(node, 0, x.dtype);
  auto batch = static_cast<std::size_t>(node.int_attr("batch_dims", 0));
  Places places = places_of(x.shape, index.shape, batch);
  std::int64_t batches = product(x.shape, 0, batch),
               per_batch = places.count / std::max<std::int64_t>(batches, 1),
               step = product(x.shape, batch, x.shape.size());
  b.step("loop", {x, index, y}, [=, bytes = static_cast<std::int64_t>(size_of(x.dtype))](const Pointers& p) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < places.count; ++i) {
      std::int64_t from = offset_of(places, p.get<std::int64_t>(index) + i * places.depth);
      if (from < 0) continue;
      from += i / per_batch * step;
      std::memcpy(p.raw(y) + i * places.inner * bytes, p.raw(x) + from * bytes,
                  static_cast<std::size_t>(places.inner * bytes));
    }
  });
}

void emit_scatter_nd(Builder& b, const Node& node) {
  std::string mode = node.string_attr("reduction", "none");
  auto [x, updates, y] = scatter_operands(b, node, mode == "none");
  Tensor index = as_int64(b, b.input(node, 1));
  if (mode != "none" && (mode != "add" || x.dtype != DType::kFloat32))
    throw Unsupported("reduction " + mode + " is not implemented");
  Places places = places_of(x.shape, index.shape, 0);
  if (x.buffer != y.buffer) b.copy(x, y);
  b.step("loop", {index, updates, y},
         [=, add = mode == "add", bytes = static_cast<std::int64_t>(size_of(x.dtype))](const Pointers& p) {
           for (std::int64_t i = 0; i < places.count; ++i) {
             std::int64_t to = offset_of(places, p.get<std::int64_t>(index) + i * places.depth);
             if (to < 0) continue;
             if (add)
               for (std::int64_t j = 0; j < places.inner; ++j)
                 p.get<float>(y)[to + j] += p.get<float>(updates)[i * places.inner + j];
             else
               std::memcpy(p.raw(y) + to * bytes, p.raw(updates) + i * places.inner * bytes,
                           static_cast<std::size_t>(places.inner * bytes));
           }
         });
}

template <class T>
void run_range(const Pointers& p, const Tensor& start, const Tensor& step, const Tensor& y) {
  T first = *p.get<T>(start), delta = *p.get<T>(step);
  for (std::int64_t i = 0; i < y.count(); ++i)
    p.get<T>(y)[i] = static_cast<T>(first + static_cast<T>(i) * delta);
}

void emit_range(Builder& b, const Node& node) {
  Tensor start = b.dense_input(node, 0), step = b.dense_input(node, 2), y = b.output(node, 0);
  DType dtype = y.dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kInt64 && dtype != DType::kInt32)
    throw Unsupported("a range of this type is not implemented");
  b.step("loop", {start, step, y}, [=](const Pointers& p) {
    if (dtype == DType::kFloat32)
      run_range<float>(p, start, step, y);
    else if (dtype == DType::kInt64)
      run_range<std::int64_t>(p, start, step, y);
    else
      run_range<std::int32_t>(p, start, step, y);
  });
}

void emit_one_hot(Builder& b, const Node& node) {
  Tensor index = as_int64(b, b.input(node, 0)), values = b.dense_input(node, 2), y = b.output(node, 0);
  auto axis = static_cast<std::size_t>(normal_axis(node.int_attr("axis", -1), y.shape.size()));
  std::int64_t outer = product(y.shape, 0, axis), depth = y.shape[axis],
               inner = product(y.shape, axis + 1, y.shape.size());
  b.step("loop", {index, values, y},
         [=, bytes = static_cast<std::int64_t>(size_of(y.dtype))](const Pointers& p) {
           for (std::int64_t o = 0; o < outer; ++o)
             for (std::int64_t d = 0; d < depth; ++d)
               for (std::int64_t i = 0; i < inner; ++i) {
                 std::int64_t hot = p.get<std::int64_t>(index)[o * inner + i];
                 std::int64_t which = (hot < 0 ? hot + depth : hot) == d ? 1 : 0;
                 std::memcpy(p.raw(y) + ((o * depth + d) * inner + i) * bytes, p.raw(values) + which * bytes,
                             static_cast<std::size_t>(bytes));
               }
         });
}

}  // namespace

const OperatorTable& index_operators() {
  static const OperatorTable kTable = {{"Gather", emit_gather},
                                       {"GatherElements", emit_gather_elements},
                                       {"ScatterElements", emit_scatter_elements},
                                       {"GatherND", emit_gather_nd},
                                       {"ScatterND", emit_scatter_nd},
                                       {"Scatter", emit_scatter_elements},
                                       {"Range", emit_range},
                                       {"OneHot", emit_one_hot}};
  return kTable;
}

}  // namespace kforge::onednn
