// LSTM, GRU and RNN on oneDNN's recurrent primitives: gates put into its order and weights packed in
// prepare().
#include <algorithm>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Direction = dnnl::rnn_direction;

struct Recurrent {
  std::int64_t time, batch, in, hidden, directions, gates;
  Direction direction;
  std::vector<std::int64_t> order;  // oneDNN's gate g is ONNX's gate order[g]
  bool split_bias;  // GRU with linear_before_reset keeps the recurrent bias of its last gate apart
};

void refuse_options(Builder& b, const Node& node) {
  if (b.has_input(node, 4)) throw Unsupported("sequence lengths are not implemented");
  if (b.has_input(node, 7)) throw Unsupported("peepholes are not implemented");
  if (node.has_attr("clip")) throw Unsupported("clipping is not implemented");
  if (node.int_attr("input_forget", 0)) throw Unsupported("coupled gates are not implemented");
  if (node.int_attr("layout", 0)) throw Unsupported("the batch-first layout is not implemented");
  auto found = node.attributes.find("activations");
  if (found == node.attributes.end()) return;
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  static const std::map<std::string, std::vector<std::string>> kUsual = {
      {"LSTM", {"Sigmoid", "Tanh", "Tanh"}}, {"GRU", {"Sigmoid", "Tanh"}}, {"RNN", {"Tanh"}}};
  const auto& usual = kUsual.at(node.op);
  for (std::size_t i = 0; names && i < names->size(); ++i)
    if ((*names)[i] != usual[i % usual.size()])
      throw Unsupported("activation " + (*names)[i] + " is not implemented");
}

Recurrent read(Builder& b, const Node& node) {
  refuse_options(b, node);
  const Shape x = b.shape_of(node.inputs[0]), r = b.shape_of(node.inputs[2]);
  Recurrent shape{x[0], x[1], x[2], r[2], r[0], 1, Direction::unidirectional_left2right, {0}, false};
  std::string direction = node.string_attr("direction", "forward");
  if (direction == "reverse") shape.direction = Direction::unidirectional_right2left;
  if (direction == "bidirectional") shape.direction = Direction::bidirectional_concat;
  if (node.op == "LSTM") shape.gates = 4, shape.order = {0, 2, 3, 1};  // i f c o from i o f c
  if (node.op == "GRU") shape.gates = 3, shape.order = {0, 1, 2};      // u r o from z r h
  shape.split_bias = node.op == "GRU" && node.int_attr("linear_before_reset", 0) != 0;
  return shape;
}

Tensor part(Tensor t, std::size_t axis, std::int64_t begin, std::int64_t count) {
  t.offset += begin * t.strides[axis];
  t.shape[axis] = count;
  return t;
}

// [directions, gates * hidden, n] with gates in oneDNN's order, seen as [1, directions, n, gates, hidden].
Tensor weights(Builder& b, const Tensor& given, const Recurrent& s) {
  std::int64_t n = given.shape[2];
  Tensor from = *reshaped(b.dense(given), {s.directions, s.gates, s.hidden, n});
  Tensor to = b.temporary(DType::kFloat32, from.shape);
  for (std::int64_t g = 0; g < s.gates; ++g)
    b.copy(part(from, 1, s.order[static_cast<std::size_t>(g)], 1), part(to, 1, g, 1));
  return permuted(*reshaped(to, {1, s.directions, s.gates, s.hidden, n}), {0, 1, 4, 2, 3});
}

// Both biases of a gate are added, but for the last gate of a split one, whose recurrent bias comes as a
// fourth row.
Tensor bias(Builder& b, const Node& node, const Recurrent& s) {
  std::int64_t rows = s.gates + (s.split_bias ? 1 : 0);
  Tensor to = b.temporary(DType::kFloat32, {s.directions, rows, s.hidden});
  Tensor both = *reshaped(b.dense_input(node, 3), {s.directions, 2, s.gates, s.hidden});
  for (std::int64_t g = 0; g < s.gates; ++g) {
    std::int64_t from = s.order[static_cast<std::size_t>(g)];
    auto half = [&](std::int64_t which) {
      return *reshaped(part(part(both, 1, which, 1), 2, from, 1), {s.directions, 1, s.hidden});
    };
    bool apart = s.split_bias && g == s.gates - 1;
    if (apart) {
      b.copy(half(0), part(to, 1, g, 1));
      b.copy(half(1), part(to, 1, g + 1, 1));
    } else {
      emit_pair(b, loops::Binary::kAdd, half(0), half(1), part(to, 1, g, 1));
    }
  }
  return *reshaped(to, {1, s.directions, rows, s.hidden});
}

Tensor state(Builder& b, const Node& node, std::size_t i, const Recurrent& s) {
  Shape shape{1, s.directions, s.batch, s.hidden};
  if (b.has_input(node, i)) return *reshaped(b.dense_input(node, i), shape);
  return b.prepared(describe_dense(shape), shape);  // memory that is never written stays zero
}

Tensor result(Builder& b, const Node& node, std::size_t i, const Shape& shape) {
  return b.wants_output(node, i) ? *reshaped(b.output(node, i), shape) : b.temporary(DType::kFloat32, shape);
}

template <class Pd>
void emit_primitive(Builder& b, const Node& node, const Recurrent& s, const Pd& pd,
                    const dnnl::primitive& primitive, std::vector<Operand> operands) {
  Tensor x = b.dense_input(node, 0);
  auto packed = [&](std::size_t i, const Desc& layout) {
    return b.once_if_fixed(b.input(node, i),
                           [&] { return b.in_layout(weights(b, b.input(node, i), s), layout); });
  };
  Tensor w = packed(1, pd.weights_layer_desc()), r = packed(2, pd.weights_iter_desc());
  Tensor h = state(b, node, 5, s);
  Shape y_shape{s.time, s.batch, s.directions * s.hidden}, state_shape{1, s.directions, s.batch, s.hidden};
  bool in_place = s.directions == 1 && b.wants_output(node, 0);
  Tensor y = in_place ? *reshaped(b.output(node, 0), y_shape) : b.temporary(DType::kFloat32, y_shape);
  Tensor last = result(b, node, 1, state_shape);
  auto add = [&](int role, const Desc& layout, const Tensor& tensor) {
    operands.push_back({role, layout, tensor});
  };
  add(DNNL_ARG_SRC_LAYER, describe(x), x);
  add(DNNL_ARG_SRC_ITER, describe(h), h);
  add(DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), w);
  add(DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), r);
  Tensor biases =
      b.has_input(node, 3)
          ? b.once_if_fixed(b.input(node, 3), [&] { return bias(b, node, s); })
          : b.prepared(pd.bias_desc(), {1, s.directions, s.gates + (s.split_bias ? 1 : 0), s.hidden});
  add(DNNL_ARG_BIAS, describe(biases), biases);
  add(DNNL_ARG_DST_LAYER, describe(y), y);
  add(DNNL_ARG_DST_ITER, describe(last), last);
  b.primitive(pd.impl_info_str(), primitive, operands);
  if (in_place || !b.wants_output(node, 0)) return;
  // oneDNN puts the directions side by side in a row; ONNX one after the other.
  Tensor end = b.output(node, 0);
  b.copy(permuted(*reshaped(y, {s.time, s.batch, s.directions, s.hidden}), {0, 2, 1, 3}), end);
}

struct Layouts {
  Desc x, state, w, r, bias, y;
};

Layouts layouts_of(const Recurrent& s) {
  std::int64_t rows = s.gates + (s.split_bias ? 1 : 0);
  return {describe_dense({s.time, s.batch, s.in}),
          describe_dense({1, s.directions, s.batch, s.hidden}),
          Desc({1, s.directions, s.in, s.gates, s.hidden}, kF32, kAny),
          Desc({1, s.directions, s.hidden, s.gates, s.hidden}, kF32, kAny),
          describe_dense({1, s.directions, rows, s.hidden}),
          describe_dense({s.time, s.batch, s.directions * s.hidden})};
}

void emit_lstm(Builder& b, const Node& node) {
  Recurrent s = read(b, node);
  Layouts l = layouts_of(s);
  dnnl::lstm_forward::primitive_desc pd(
      {kForward, s.direction, l.x, l.state, l.state, l.w, l.r, l.bias, l.y, l.state, l.state}, engine());
  Tensor cell = state(b, node, 6, s), last = result(b, node, 2, {1, s.directions, s.batch, s.hidden});
  emit_primitive(b, node, s, pd, dnnl::lstm_forward(pd),
                 {{DNNL_ARG_SRC_ITER_C, l.state, cell}, {DNNL_ARG_DST_ITER_C, l.state, last}});
}

void emit_gru(Builder& b, const Node& node) {
  Recurrent s = read(b, node);
  Layouts l = layouts_of(s);
  if (s.split_bias) {
    dnnl::lbr_gru_forward::primitive_desc pd(
        {kForward, s.direction, l.x, l.state, l.w, l.r, l.bias, l.y, l.state}, engine());
    return emit_primitive(b, node, s, pd, dnnl::lbr_gru_forward(pd), {});
  }
  dnnl::gru_forward::primitive_desc pd({kForward, s.direction, l.x, l.state, l.w, l.r, l.bias, l.y, l.state},
                                       engine());
  emit_primitive(b, node, s, pd, dnnl::gru_forward(pd), {});
}

void emit_rnn(Builder& b, const Node& node) {
  Recurrent s = read(b, node);
  Layouts l = layouts_of(s);
  dnnl::vanilla_rnn_forward::primitive_desc pd(
      {kForward, dnnl::algorithm::eltwise_tanh, s.direction, l.x, l.state, l.w, l.r, l.bias, l.y, l.state},
      engine());
  emit_primitive(b, node, s, pd, dnnl::vanilla_rnn_forward(pd), {});
}

}  // namespace

const OperatorTable& recurrent_operators() {
  static const OperatorTable kTable = {{"LSTM", emit_lstm}, {"GRU", emit_gru}, {"RNN", emit_rnn}};
  return kTable;
}

}  // namespace kforge::onednn
