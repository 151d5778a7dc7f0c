// Products of integers that carry scales and zero points. Sums are exact; what they are worth follows.
#include "smith/expr/arithmetic.h"
#include "smith/graph/window.h"

namespace kforge::smith {
namespace {

// A scale or zero point: one for all, or one for each position along an axis.
Expr parameter(const Value& v, const Expr& along) {
  if (element_count(v.shape) == 1) return v.at(Position(v.rank(), integer(0)));
  if (v.rank() != 1) throw Unsupported{"with parameters that are no vector"};
  return v.at({along});
}
Expr centred(const Expr& x, const std::optional<Value>& zero, const Expr& along) {
  return zero ? sub(x, parameter(*zero, along)) : x;
}
std::optional<Value> optional_input(Lowering& l, std::size_t i) {
  return l.has(i) ? std::optional(l.input(i)) : std::nullopt;
}

// round(value / scale) + zero, into the limits of the type.
Expr saturated(const Expr& value, DType to) {
  const bool is_signed = to == DType::kInt8 || to == DType::kInt16;
  const double steps = size_of(to) == 1 ? 256 : 65536;
  const double low = is_signed ? -steps / 2 : 0;
  const Expr above = binary(Op::kMax, value, number(low, value->type));
  return cast(binary(Op::kMin, above, number(low + steps - 1, value->type)), to);
}
Expr quantized(const Expr& value, const Expr& scale, const Expr& zero, DType to) {
  return saturated(add(unary(Op::kRound, div(value, scale)), cast(zero, DType::kFloat32)), to);
}

Value exact_sum(Lowering& l, const Shape& kept, const Shape& reduced,
                const std::function<Expr(const Position&, const Position&)>& body) {
  const Value sum = l.reduce(Combine::kSum, DType::kInt32, kept, reduced, body, l.node().outputs[0] + "_sum");
  l.program().stages.back().node = &l.node();
  return sum;
}

// [batch..., M, K] x [batch..., K, N]; zero points by row of a and by column of b.
Value product(Lowering& l, std::size_t a_input, std::size_t a_zero, std::size_t b_input, std::size_t b_zero) {
  const Value a = l.input(a_input), b = l.input(b_input);
  const auto za = optional_input(l, a_zero), zb = optional_input(l, b_zero);
  const Shape result = l.output_shape();
  const bool a_vector = a.rank() == 1, b_vector = b.rank() == 1;
  const std::size_t batch = result.size() - (a_vector ? 0 : 1) - (b_vector ? 0 : 1);
  return exact_sum(l, result, {a.shape.back()}, [&](const Position& k, const Position& r) {
    const Expr row = a_vector ? integer(0) : k[batch], column = b_vector ? integer(0) : k.back();
    auto position = [&](const Value& v, bool vector, const Expr& first, const Expr& second) {
      if (vector) return Position{r[0]};
      const std::size_t lead = v.rank() - 2;
      Position p;
      for (std::size_t d = 0; d < lead; ++d) p.push_back(v.shape[d] == 1 ? integer(0) : k[batch - lead + d]);
      p.push_back(first);
      p.push_back(second);
      return p;
    };
    return mul(centred(a.at(position(a, a_vector, row, r[0])), za, row),
               centred(b.at(position(b, b_vector, r[0], column)), zb, column));
  });
}

// Padding counts as the zero point: it adds nothing.
Value convolution(Lowering& l, std::size_t x_input, std::size_t x_zero, std::size_t w_input,
                  std::size_t w_zero) {
  const Value x = l.input(x_input), w = l.input(w_input);
  const auto zx = optional_input(l, x_zero), zw = optional_input(l, w_zero);
  const Shape result = l.output_shape();
  const ConvolutionTaps taps(l.node(), x.shape, w.shape, result);
  return exact_sum(l, result, taps.reduced, [&](const Position& k, const Position& r) {
    const auto [from, tap, condition] = taps.at(k, r);
    const Expr taken = mul(centred(x.at(from), zx, from[1]), centred(w.at(tap), zw, k[1]));
    return condition ? guard(condition, taken, integer(0)) : taken;
  });
}

void matmul_integer(Lowering& l) { l.define(0, product(l, 0, 2, 1, 3)); }
void conv_integer(Lowering& l) { l.define(0, convolution(l, 0, 2, 1, 3)); }

// Inputs: a, scale, zero, b, scale, zero, result scale, result zero; scales of b by column.
void qlinear_matmul(Lowering& l) {
  const Value sum = product(l, 0, 2, 3, 5), a_scale = l.input(1), b_scale = l.input(4), scale = l.input(6),
              zero = l.input(7);
  const DType to = l.output_dtype();
  l.define_map(
      [=](const Position& p) {
        const Expr column = p.empty() ? integer(0) : p.back();
        const Expr factor = mul(parameter(b_scale, column), parameter(a_scale, integer(0)));
        return quantized(mul(cast(sum.at(p), DType::kFloat32), factor), parameter(scale, column),
                         parameter(zero, column), to);
      },
      12);
}

// Inputs: x, scale, zero, w, scale, zero, result scale, result zero, bias (in units of both scales).
void qlinear_conv(Lowering& l) {
  const Value sum = convolution(l, 0, 2, 3, 5), x_scale = l.input(1), w_scale = l.input(4),
              scale = l.input(6), zero = l.input(7);
  const auto bias = optional_input(l, 8);
  const DType to = l.output_dtype();
  l.define_map(
      [=](const Position& p) {
        const Expr total = bias ? add(sum.at(p), bias->at({p[1]})) : sum.at(p);
        const Expr factor = mul(parameter(w_scale, p[1]), parameter(x_scale, integer(0)));
        return quantized(mul(cast(total, DType::kFloat32), factor), parameter(scale, p[1]),
                         parameter(zero, p[1]), to);
      },
      12);
}

// Scale and zero point from the range of the data, which is widened to contain zero.
void dynamic_quantize(Lowering& l) {
  const Value x = l.input(0);
  auto extreme = [&](Combine combine, Op op, const char* hint) {
    const Value found = l.reduce(
        combine, x.dtype, {}, x.shape, [&](const Position&, const Position& r) { return x.at(r); }, hint);
    return binary(op, found.at({}), number(0, found.type()));
  };
  const Expr low = extreme(Combine::kMin, Op::kMin, "lowest"),
             high = extreme(Combine::kMax, Op::kMax, "highest");
  const Expr one = number(1, low->type), range = sub(high, low);
  const Value scale = l.materialize(Value{DType::kFloat32,
                                          {},
                                          [=](const Position&) {
                                            return select(binary(Op::kEqual, high, low), one,
                                                          div(range, number(255, low->type)));
                                          },
                                          {},
                                          20},
                                    "scale");
  const Value zero = l.materialize(
      Value{DType::kUInt8,
            {},
            [=](const Position&) {
              return saturated(unary(Op::kRound, div(unary(Op::kNeg, low), scale.at({}))), DType::kUInt8);
            },
            {},
            20},
      "zero_point");
  l.define_map(
      [=](const Position& p) { return quantized(x.at(p), scale.at({}), zero.at({}), DType::kUInt8); },
      x.cost + 10);
  l.define(1, scale);
  l.define(2, zero);
}

}  // namespace

const LowerTable& quantized_table() {
  static const LowerTable table = {
      {"MatMulInteger", matmul_integer},           {"ConvInteger", conv_integer},
      {"QLinearMatMul", qlinear_matmul},           {"QLinearConv", qlinear_conv},
      {"DynamicQuantizeLinear", dynamic_quantize},
  };
  return table;
}

}  // namespace kforge::smith
