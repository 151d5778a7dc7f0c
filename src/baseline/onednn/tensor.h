// How the plan holds a value of the graph: a strided view of a buffer, so that transposes, slices and
// expansions cost nothing until somebody needs the elements in order.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "baseline/onednn/loops/loops.h"
#include "graph/graph.h"

namespace kforge::onednn {

// What the graph asks for is not implemented; the text names it. oneDNN itself reports by exceptions too, and
// both become an Error where the plan is made.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Tensor {
  int buffer = -1;
  DType dtype =
      DType::kFloat32;  // as held: float16 and bfloat16 only in arguments and what is moved from them
  Shape shape;
  Shape strides;            // in elements
  std::int64_t offset = 0;  // in elements
  // Set when the value lies in one of oneDNN's blocked layouts; strides then mean nothing.
  std::optional<dnnl::memory::desc> blocked;

  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t count() const { return element_count(shape); }
  // Elements in index order without gaps.
  bool dense() const;
};

Shape dense_strides(const Shape& shape);

// The tensor as oneDNN describes it (plain tensors by their strides). `shape` of the second form replaces the
// tensor's own, REQUIRES: dense.
dnnl::memory::desc describe(const Tensor& tensor);
dnnl::memory::desc describe_dense(const Shape& shape);

// The same elements with another shape, when strides allow it without a copy.
std::optional<Tensor> reshaped(const Tensor& tensor, const Shape& shape);
// Broadcast to a larger shape by zero strides (numpy's rule). REQUIRES: not blocked.
Tensor expanded(const Tensor& tensor, const Shape& shape);
Tensor permuted(const Tensor& tensor, const std::vector<std::int64_t>& order);

// The walk over `shape` with these operands (first: destination), neighbouring dimensions joined where all
// allow it. REQUIRES: every operand has been expanded to `shape`.
loops::Walk make_walk(const Shape& shape, const std::vector<const Tensor*>& operands);

loops::Number number_of(DType dtype);  // throws Unsupported for types the loops do not know
std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end);
std::int64_t normal_axis(std::int64_t axis, std::size_t rank);

}  // namespace kforge::onednn
