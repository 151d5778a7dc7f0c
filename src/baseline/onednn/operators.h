// The tables of implemented operators, one per family.
#pragma once

#include <map>
#include <string>

#include "baseline/onednn/builder.h"

namespace kforge::onednn {

using OperatorTable = std::map<std::string, Emit>;

const OperatorTable& elementwise_operators();  // op_elementwise.cc
const OperatorTable& product_operators();      // op_product.cc: MatMul, Gemm, Einsum
const OperatorTable& convolution_operators();  // op_convolution.cc
const OperatorTable& pooling_operators();      // op_pooling.cc
const OperatorTable& row_operators();          // op_rows.cc: softmax, normalisations
const OperatorTable& reduction_operators();  // op_reduction.cc: reductions, arg, top-k, running sums, losses
const OperatorTable& layout_operators();     // op_layout.cc: what only moves elements
const OperatorTable& index_operators();      // op_index.cc: gathers, scatters, ranges
const OperatorTable& recurrent_operators();  // op_recurrent.cc: LSTM, GRU, RNN

// y = a (op) b by a loop; both broadcast to y. Shared by several families.
void emit_pair(Builder& b, loops::Binary op, const Tensor& a, const Tensor& c, const Tensor& y);
// y = x W + bias, W as [K, N] in any strides, bias null or [N].
void emit_product(Builder& b, const Tensor& x, const Tensor& w, const Tensor* bias, const Tensor& y);

}  // namespace kforge::onednn
