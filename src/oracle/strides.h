// Walking over tensors: strides, broadcasting, and copies from one arrangement to another.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "oracle/parallel.h"
#include "oracle/tensor.h"

namespace kforge {

// Elements to step over for each dimension of a contiguous tensor.
Shape contiguous_strides(const Shape& shape);

// The common shape of two operands under ONNX's (NumPy's) rules; refuses shapes that do not fit.
Shape broadcast_shape(const Shape& a, const Shape& b);

// Strides with which a contiguous tensor of `shape` is read as one of shape `target` (0 where it repeats).
// Refuses a shape that does not broadcast to the target.
Shape broadcast_strides(const Shape& shape, const Shape& target);

// A walk over the index space `dims` in which N operands have their own strides. Neighbouring dimensions that
// every operand steps through evenly are merged and dimensions of 1 dropped, so most walks are one long row.
template <std::size_t N>
class Walk {
 public:
  Walk(const Shape& dims, std::array<Shape, N> strides);

  // row(position, offsets, count) for consecutive pieces of [begin, end), each within one innermost row: item
  // j of a piece is at position + j of the index space and at offsets[n] + j * inner(n) of operand n.
  template <class Row>
  void run(std::int64_t begin, std::int64_t end, const Row& row) const;

  std::int64_t inner(std::size_t operand) const { return strides_[operand].back(); }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 1;
  Shape dims_;
  std::array<Shape, N> strides_;
};

template <std::size_t N>
Walk<N>::Walk(const Shape& dims, std::array<Shape, N> strides) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    count_ *= dims[d];
    if (dims[d] == 1) continue;
    bool merges = !dims_.empty();
    for (std::size_t n = 0; n < N && merges; ++n) merges = strides_[n].back() == strides[n][d] * dims[d];
    if (merges) {
      dims_.back() *= dims[d];
      for (std::size_t n = 0; n < N; ++n) strides_[n].back() = strides[n][d];
    } else {
      dims_.push_back(dims[d]);
      for (std::size_t n = 0; n < N; ++n) strides_[n].push_back(strides[n][d]);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    for (std::size_t n = 0; n < N; ++n) strides_[n].push_back(0);
  }
}

template <std::size_t N>
template <class Row>
void Walk<N>::run(std::int64_t begin, std::int64_t end, const Row& row) const {
  if (begin >= end) return;
  const std::size_t rank = dims_.size();
  Shape index(rank);
  std::array<std::int64_t, N> offsets{};
  std::int64_t rest = begin;
  for (std::size_t d = rank; d-- > 0;) {
    index[d] = rest % dims_[d];
    rest /= dims_[d];
    for (std::size_t n = 0; n < N; ++n) offsets[n] += index[d] * strides_[n][d];
  }
  for (std::int64_t position = begin; position < end;) {
    const std::int64_t count = std::min(dims_[rank - 1] - index[rank - 1], end - position);
    row(position, offsets, count);
    position += count;
    index[rank - 1] += count;
    for (std::size_t n = 0; n < N; ++n) offsets[n] += count * strides_[n][rank - 1];
    for (std::size_t d = rank - 1; d > 0 && index[d] == dims_[d]; --d) {  // carry
      index[d] = 0;
      ++index[d - 1];
      for (std::size_t n = 0; n < N; ++n) offsets[n] += strides_[n][d - 1] - dims_[d] * strides_[n][d];
    }
  }
}

// The tensor of shape `shape` whose element at index i is source[base + i . strides]: transposing, slicing
// and repeating are such copies. REQUIRES: every address lies inside the source.
template <class F>
Tensor<F> strided_copy(const Tensor<F>& source, const Shape& shape, std::int64_t base, const Shape& strides,
                       int threads);

}  // namespace kforge
