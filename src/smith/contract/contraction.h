// A contraction: c[batch][m][n] = sum over k of a[batch][m][k] * b[batch][k][n], whatever the operands look
// like in memory. Matrix products, Gemm, Einsum and convolutions are all brought to this one form; they
// differ only in how an index of the product becomes an address of an operand.
//
// `n` is the side along which vectors lie: the contiguous dimension of the result (a row of a matrix, a row
// of an image). `m` is the side whose values are broadcast.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/dtype.h"

namespace kforge::smith {

// One digit of an index, most significant first: index i of a list of axes is a mixed-radix number, and its
// address the sum of digit * stride (in elements).
struct Axis {
  long extent = 1;
  long stride = 0;
};

struct Operand {
  std::string pointer;  // name of one of Contraction::tensors
  DType dtype = DType::kFloat32;
  bool param = false;       // fixed between calls: may be packed in prepare()
  std::vector<Axis> batch;  // product of extents: Contraction::batch; empty: the same for every item
  std::vector<Axis> side;   // m for a, n for b
  std::vector<Axis> depth;  // k
  long offset = 0;          // of the first element (negative strides start at the end)
  // Instead of `depth`: the offset as an expression of `i`, where it is no mixed-radix number.
  std::string depth_offset;
  // Instead of an address: a C++ expression (float) of `batch`, `side` and `depth`, for operands that are
  // computed while they are packed (a dequantised weight, a masked triangle).
  std::string element;
};

// A pointer the emitted code takes: {"const float*", "bias"}.
struct Tensor {
  std::string type, name;
};

// Where finished sums are handed over. The emitted statements may use the names `batch`, `row`, `column`
// (long; of the first lane), `sum_at` (the sum of a column is sum_at[column]) and every tensor's name.
struct FinishSite {
  int lanes = 1;
  bool stream = false;  // non-temporal stores: nobody reads the result soon
};
// Returns statements that end by storing. Asked once for whole vectors and once for single elements at edges.
using Finish = std::function<std::string(const FinishSite&)>;

// Columns are pixels of a padded image and k runs over rows of taps, then channels, then the taps of a row. A
// row of taps that looks at nothing but padding adds zeros, and can be left out.
struct TapRows {
  long steps = 1;  // of k in one row of taps
  long width = 1;  // columns of one row of the output
  // Depth and height:
  long out[2] = {1, 1}, taps[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1}, begins[2] = {0, 0},
       input[2] = {1, 1};

  double useful() const;  // part of all rows of taps of all output rows that looks into the image
};

struct Contraction {
  std::string name;  // a C++ identifier: of the emitted code
  std::string what;  // "y = leaky_relu(2 * (x * w^T + bias))": for the comment
  long batch = 1, m = 1, n = 1, k = 1;
  Operand a, b;
  // Columns lie in runs of this length that are contiguous in b (an output row of a convolution); panels do
  // not cross them. 0: all n.
  long run = 0;
  std::optional<TapRows> tap_rows;
  bool scattered = false;  // taps of the image that share no lines: it is read with a stride
  bool phases = false;     // of a transposed convolution: b is read in place, whatever else would be possible
  std::vector<Tensor> tensors;
  Finish finish;
  bool stream_ok = true;  // the result may leave by non-temporal stores

  double flops() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
  long run_length() const { return run > 0 ? run : n; }
};

// The same axes with neighbours merged where one stride continues the other, and extents of 1 dropped.
std::vector<Axis> merged(std::vector<Axis> axes);
long extent_of(const std::vector<Axis>& axes);
// C++ expression of the offset of index `index` ("i * 64", "i / 9 * 3136 + i / 3 % 3 * 58 + i % 3").
std::string offset_expression(const std::vector<Axis>& axes, const std::string& index);
// The stride of a list that has become one axis; 0 for none.
bool is_linear(const std::vector<Axis>& axes);
long linear_stride(const std::vector<Axis>& axes);

// Items of a batch that have an operand of their own: a broadcast one (stride 0) is packed once.
long own_items(const Operand& operand);
bool depth_is_linear(const Operand& operand);
std::string depth_expression(const Operand& operand, const std::string& index);

// Plain row-major matrices: a[m][k] (or [k][m]), b[k][n] (or [n][k]), each with a batch stride (0: shared).
Operand matrix_operand(std::string pointer, long side, long depth, bool depth_contiguous, long batch,
                       long batch_stride);

}  // namespace kforge::smith
