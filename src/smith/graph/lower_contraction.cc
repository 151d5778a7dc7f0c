// Matrix products, convolutions and Einsum: sums over products of two loads. Their stages keep the node, so
// that contract/ can recognise them; what is not taken there runs as a plain loop nest.
#include <algorithm>
#include <map>

#include "graph/einsum.h"
#include "smith/expr/arithmetic.h"
#include "smith/graph/window.h"

namespace kforge::smith {
namespace {

// Operands are read many times: arithmetic on them is done once, changes of position are free.
// An operand that each result needs anew (a matrix times few vectors) is computed on the way.
Value operand(Lowering& l, std::size_t i, const char* name, std::int64_t reuse = 1 << 20) {
  const Value x = l.input(i);
  return x.tensor.empty() && x.cost > 1 && reuse >= 8 && !only_moves(x)
             ? l.materialize(x, l.node().outputs[0] + "_" + name)
             : x;
}

Value contraction(Lowering& l, DType dtype, const Shape& kept, const Shape& reduced,
                  const std::function<Expr(const Position&, const Position&)>& body,
                  const std::string& hint) {
  const Value result = l.reduce(Combine::kSum, dtype, kept, reduced, body, hint);
  l.program().stages.back().node = &l.node();
  return result;
}

// [batch..., M, K] x [batch..., K, N] with broadcasting; vectors are matrices of one row or column.
Value matmul(Lowering& l, const Value& a, const Value& b, DType dtype, const Shape& result,
             const std::function<Expr(const Expr&)>& fix_a, const std::function<Expr(const Expr&)>& fix_b) {
  const bool a_vector = a.rank() == 1, b_vector = b.rank() == 1;
  const std::int64_t depth = a.shape.back();
  const std::size_t batch = result.size() - (a_vector ? 0 : 1) - (b_vector ? 0 : 1);
  return contraction(
      l, dtype, result, {depth},
      [&](const Position& k, const Position& r) {
        auto position = [&](const Value& v, bool vector, const Expr& row, const Expr& column) {
          if (vector) return Position{r[0]};
          const std::size_t lead = v.rank() - 2;
          Position p;
          for (std::size_t d = 0; d < lead; ++d)
            p.push_back(v.shape[d] == 1 ? integer(0) : k[batch - lead + d]);
          p.push_back(row);
          p.push_back(column);
          return p;
        };
        const Expr row = a_vector ? nullptr : k[batch], column = b_vector ? nullptr : k.back();
        return mul(fix_a(a.at(position(a, a_vector, row, r[0]))),
                   fix_b(b.at(position(b, b_vector, r[0], column))));
      },
      l.node().outputs[0]);
}

void matmul_op(Lowering& l) {
  auto same = [](const Expr& e) { return e; };
  const Value a = operand(l, 0, "left"), b = operand(l, 1, "right");
  l.define(0, matmul(l, a, b, l.output_dtype(), l.output_shape(), same, same));
}

void gemm(Lowering& l) {
  const bool transpose_a = l.node().int_attr("transA", 0) != 0,
             transpose_b = l.node().int_attr("transB", 0) != 0;
  const std::int64_t rows = l.output_shape()[0], columns = l.output_shape()[1];
  const Value a = operand(l, 0, "left", columns), b = operand(l, 1, "right", rows);
  const std::int64_t depth = a.shape[transpose_a ? 0 : 1];
  const Value product = contraction(
      l, l.output_dtype(), l.output_shape(), {depth},
      [&](const Position& k, const Position& r) {
        return mul(a.at(transpose_a ? Position{r[0], k[0]} : Position{k[0], r[0]}),
                   b.at(transpose_b ? Position{k[1], r[0]} : Position{r[0], k[1]}));
      },
      l.node().outputs[0] + "_product");
  const double alpha = static_cast<double>(l.node().float_attr("alpha", 1)),
               beta = static_cast<double>(l.node().float_attr("beta", 1));
  if (!l.has(2) && alpha == 1) return l.define(0, product);
  if (product.type() == Type::kInt && (alpha != 1 || beta != 1))
    throw Unsupported{"of integers with factors"};
  const std::optional<Value> c = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  l.define_map(
      [=](const Position& p) {
        Expr y = product.at(p);
        if (alpha != 1) y = mul(y, number(alpha, y->type));
        if (!c) return y;
        Expr term = c->at(broadcast(p, c->shape));
        if (beta != 1) term = mul(term, number(beta, y->type));
        return add(y, term);
      },
      4);
}

Value convolution(Lowering& l, const Value& x, const Value& w, DType dtype,
                  const std::function<Expr(const Expr&)>& fix_x,
                  const std::function<Expr(const Expr&)>& fix_w, const Shape& result,
                  const std::string& hint) {
  const ConvolutionTaps taps(l.node(), x.shape, w.shape, result);
  const Expr zero = type_for(dtype) == Type::kInt ? integer(0) : number(0, type_for(dtype));
  return contraction(
      l, dtype, result, taps.reduced,
      [&](const Position& k, const Position& r) {
        const auto [from, tap, condition] = taps.at(k, r);
        return guard(condition, mul(fix_x(x.at(from)), fix_w(w.at(tap))), zero);
      },
      hint);
}

void define_with_bias(Lowering& l, const Value& sum, std::size_t bias_input) {
  if (!l.has(bias_input)) return l.define(0, sum);
  const Value bias = l.input(bias_input);
  l.define_map([=](const Position& p) { return add(sum.at(p), bias.at({p[1]})); }, 3);
}

void conv(Lowering& l) {
  auto same = [](const Expr& e) { return e; };
  const Value x = operand(l, 0, "input"), w = operand(l, 1, "weights");
  const std::string hint = l.node().outputs[0] + (l.has(2) ? "_sum" : "");
  define_with_bias(l, convolution(l, x, w, l.output_dtype(), same, same, l.output_shape(), hint), 2);
}

// Output o gets input i where o + pad = i * stride + k * dilation.
void conv_transpose(Lowering& l) {
  const Value x = operand(l, 0, "input"), w = operand(l, 1, "weights");
  const Shape result = l.output_shape();
  const std::size_t rank = x.rank() - 2;
  const std::int64_t groups = l.node().int_attr("group", 1), channels = x.shape[1] / groups,
                     filters = w.shape[1];
  const Shape kernel(w.shape.begin() + 2, w.shape.end());
  const Shape strides = spatial_attr(l.node(), "strides", rank, 1),
              dilations = spatial_attr(l.node(), "dilations", rank, 1);
  Shape pads = spatial_attr(l.node(), "pads", 2 * rank, 0);
  const Shape extra = spatial_attr(l.node(), "output_padding", rank, 0);
  const std::string auto_pad = l.node().string_attr("auto_pad", "NOTSET");
  if (l.node().has_attr("output_shape") || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER")
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t full =
          strides[d] * (x.shape[d + 2] - 1) + extra[d] + (kernel[d] - 1) * dilations[d] + 1;
      const std::int64_t total = std::max<std::int64_t>(0, full - result[d + 2]);
      pads[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
  Shape reduced{channels};
  reduced.insert(reduced.end(), kernel.begin(), kernel.end());
  const Value sum = contraction(
      l, l.output_dtype(), result, reduced,
      [&](const Position& k, const Position& r) {
        const Expr c = groups == 1 ? r[0] : plus(times(digit(k[1], filters, 0), channels), r[0]);
        Position from{k[0], c}, tap{c, groups == 1 ? k[1] : digit(k[1], 1, filters)};
        Expr condition;
        for (std::size_t d = 0; d < rank; ++d) {
          const Expr reach = plus(plus(k[d + 2], times(r[d + 1], -dilations[d])), pads[d]);
          const std::int64_t size = x.shape[d + 2];
          if (range_of(reach).low < 0) condition = both(condition, binary(Op::kLessEqual, integer(0), reach));
          if (range_of(reach).high > (size - 1) * strides[d] + strides[d] - 1 ||
              range_of(reach).high >= size * strides[d])
            condition = both(condition, binary(Op::kLess, reach, integer(size * strides[d])));
          if (strides[d] > 1) {
            // Multiples of the stride are added so that the remainder is taken of something positive.
            const std::int64_t shift =
                (std::max<std::int64_t>(0, -range_of(reach).low) / strides[d] + 1) * strides[d];
            const Expr positive = plus(reach, shift);
            condition = both(condition, binary(Op::kEqual, digit(positive, 1, strides[d]), integer(0)));
            from.push_back(plus(digit(positive, strides[d], 0), -shift / strides[d]));
          } else {
            from.push_back(reach);
          }
          tap.push_back(r[d + 1]);
        }
        const Expr product = mul(x.at(from), w.at(tap));
        return guard(condition, product, number(0, product->type));
      },
      l.node().outputs[0] + (l.has(2) ? "_sum" : ""));
  define_with_bias(l, sum, 2);
}

void einsum(Lowering& l) {
  std::vector<Value> operands;
  std::vector<std::int64_t> ranks;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < l.node().inputs.size(); ++i) {
    operands.push_back(operand(l, i, "operand"));
    ranks.push_back(static_cast<std::int64_t>(operands[i].rank()));
    shapes.push_back(operands[i].shape);
  }
  const auto equation = read_einsum(l.node().string_attr("equation", ""), ranks);
  if (!equation) throw Unsupported{"an equation that does not fit its inputs"};
  const auto& [terms, output] = *equation;
  std::map<char, std::int64_t> extents = einsum_extents(*equation, shapes);
  Shape kept, gone;
  std::string summed;
  for (char c : output) kept.push_back(extents[c]);
  for (auto [label, extent] : extents)
    if (output.find(label) == std::string::npos) {
      summed += label;
      gone.push_back(extent);
    }
  auto body = [&](const Position& k, const Position& r) {
    Expr product;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Position p;
      for (std::size_t d = 0; d < terms[i].size(); ++d) {
        const auto at = output.find(terms[i][d]);
        const Expr v = at != std::string::npos ? k[at] : r[summed.find(terms[i][d])];
        p.push_back(operands[i].shape[d] == 1 ? integer(0) : v);
      }
      const Expr value = operands[i].at(p);
      product = product ? mul(product, value) : value;
    }
    return product;
  };
  if (gone.empty()) {
    const Value direct =
        l.materialize(Value{l.output_dtype(), kept, [&](const Position& p) { return body(p, {}); }, {}, 4},
                      l.node().outputs[0]);
    return l.define(0, direct);
  }
  l.define(0, contraction(l, l.output_dtype(), kept, gone, body, l.node().outputs[0]));
}

}  // namespace

const LowerTable& contraction_table() {
  static const LowerTable table = {
      {"MatMul", matmul_op}, {"Gemm", gemm}, {"Conv", conv}, {"ConvTranspose", conv_transpose},
      {"Einsum", einsum},
  };
  return table;
}

}  // namespace kforge::smith
