// Matrix products, the heart of MatMul, Gemm, Einsum and the convolutions: C(i, j) = sum over k of A(i, k)
// B(k, j). Every element of C has one accumulator and its products are added in the order of k, each rounded
// on its own (no fused multiply-add), as a plain loop would do it. Speed comes from computing many elements
// at once: tiles of C small enough for registers, from copies of A and B that lie in the order in which they
// are needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oracle/parallel.h"
#include "oracle/tensor.h"

namespace kforge {

// Register tile: kTileRows x kTileColumns<F> elements of C.
inline constexpr std::int64_t kTileRows = 4;
template <class F>
inline constexpr std::int64_t kTileColumns = 64 / sizeof(F);

// c[i][j] += sum over k of a[k][i] * b[k][j] for one register tile; row i of c begins at c + i * row_stride.
void multiply_tile(std::int64_t depth, const double* a, const double* b, double* c, std::int64_t row_stride);
void multiply_tile(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t row_stride);

// A matrix inside a larger buffer.
template <class F>
struct MatrixView {
  const F* data;
  std::int64_t row_stride, column_stride;

  F operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

// Copies rows [k, k + depth) and columns [j, j + width) of a matrix to panel[depth][panel_width], the rest of
// the panel zero. A convolution has its own way to do this for the matrix of its patches.
template <class F>
struct PackMatrix {
  MatrixView<F> matrix;

  void operator()(std::int64_t k, std::int64_t depth, std::int64_t j, std::int64_t width,
                  std::int64_t panel_width, F* panel) const {
    for (std::int64_t row = 0; row < depth; ++row, panel += panel_width) {
      for (std::int64_t column = 0; column < width; ++column) panel[column] = matrix(k + row, j + column);
      for (std::int64_t column = width; column < panel_width; ++column) panel[column] = 0;
    }
  }
};

struct GemmSize {
  std::int64_t rows, columns, depth;
};

// The block of C that one thread computes at a time, and the depth of the copies it makes.
inline constexpr std::int64_t kBlockRows = 96, kBlockColumns = 192, kBlockDepth = 256;

// One block of C, whose elements the caller has set (to zero, or what is to be added to). `pack_a` gets A as
// its transpose: pack_a(k, depth, i, height, kTileRows, panel).
template <class F, class PackA, class PackB>
void multiply_block(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                    std::int64_t depth, const PackA& pack_a, const PackB& pack_b, F* c,
                    std::int64_t row_stride) {
  constexpr std::int64_t kWidth = kTileColumns<F>;
  auto panels = [](std::int64_t count, std::int64_t width) { return (count + width - 1) / width; };
  const std::int64_t deepest = std::min(depth, kBlockDepth);
  std::vector<F> a(static_cast<std::size_t>(panels(rows, kTileRows) * kTileRows * deepest));
  std::vector<F> b(static_cast<std::size_t>(panels(columns, kWidth) * kWidth * deepest));
  for (std::int64_t k = 0; k < depth; k += kBlockDepth) {
    const std::int64_t deep = std::min(kBlockDepth, depth - k);
    for (std::int64_t i = 0; i < rows; i += kTileRows)
      pack_a(k, deep, row + i, std::min(kTileRows, rows - i), kTileRows, a.data() + i * deep);
    for (std::int64_t j = 0; j < columns; j += kWidth)
      pack_b(k, deep, column + j, std::min(kWidth, columns - j), kWidth, b.data() + j * deep);
    for (std::int64_t j = 0; j < columns; j += kWidth) {
      for (std::int64_t i = 0; i < rows; i += kTileRows) {
        F* tile = c + (row + i) * row_stride + column + j;
        const std::int64_t height = std::min(kTileRows, rows - i), width = std::min(kWidth, columns - j);
        if (height == kTileRows && width == kWidth) {
          multiply_tile(deep, a.data() + i * deep, b.data() + j * deep, tile, row_stride);
          continue;
        }
        F edge[kTileRows * kWidth] = {};  // a tile that reaches over the edge of C is computed beside it
        for (std::int64_t y = 0; y < height; ++y)
          std::copy_n(tile + y * row_stride, width, edge + y * kWidth);
        multiply_tile(deep, a.data() + i * deep, b.data() + j * deep, edge, kWidth);
        for (std::int64_t y = 0; y < height; ++y)
          std::copy_n(edge + y * kWidth, width, tile + y * row_stride);
      }
    }
  }
}

// `batches` products of one size, C of batch n being c + n * size.rows * size.columns, initialised by the
// caller. packers(n) gives the pair (pack_a, pack_b) of batch n.
template <class F, class Packers>
void multiply_batches(int threads, std::int64_t batches, const GemmSize& size, const Packers& packers, F* c) {
  check_work(2.0 * static_cast<double>(batches) * static_cast<double>(size.rows) *
             static_cast<double>(size.columns) * static_cast<double>(size.depth));
  const std::int64_t row_blocks = (size.rows + kBlockRows - 1) / kBlockRows;
  const std::int64_t column_blocks = (size.columns + kBlockColumns - 1) / kBlockColumns;
  const std::int64_t block_cost =
      std::min(size.rows, kBlockRows) * std::min(size.columns, kBlockColumns) * size.depth / 4;
  parallel_for(threads, batches * row_blocks * column_blocks, grain_for(block_cost),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t batch = item / (row_blocks * column_blocks);
                   const std::int64_t row = item / column_blocks % row_blocks * kBlockRows;
                   const std::int64_t column = item % column_blocks * kBlockColumns;
                   const auto [pack_a, pack_b] = packers(batch);
                   multiply_block(row, std::min(kBlockRows, size.rows - row), column,
                                  std::min(kBlockColumns, size.columns - column), size.depth, pack_a, pack_b,
                                  c + batch * size.rows * size.columns, size.columns);
                 }
               });
}

// The plain case: batch n multiplies a(n) by b(n).
template <class F, class ViewA, class ViewB>
void multiply_matrices(int threads, std::int64_t batches, const GemmSize& size, const ViewA& a,
                       const ViewB& b, F* c) {
  multiply_batches(
      threads, batches, size,
      [&](std::int64_t n) {
        const MatrixView<F> view = a(n);
        return std::pair(PackMatrix<F>{{view.data, view.column_stride, view.row_stride}},
                         PackMatrix<F>{b(n)});
      },
      c);
}

}  // namespace kforge
