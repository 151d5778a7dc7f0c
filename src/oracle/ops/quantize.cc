// Quantised tensors: conversions, and products of integers that carry zero points.
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/gemm.h"
#include "oracle/ops/conv_shape.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

struct Limits {
  double low, high;
};

Limits limits_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt8:
      return {-128, 127};
    case DType::kUInt16:
      return {0, 65535};
    case DType::kInt16:
      return {-32768, 32767};
    default:
      refuse("values are quantised to {}", name_of(dtype));
  }
}

// Half to even, then into the limits of the type; NaN becomes the lower limit.
template <class F>
std::int64_t saturated(F value, const Limits& limits) {
  const double rounded = std::nearbyint(static_cast<double>(value));
  return static_cast<std::int64_t>(rounded > limits.low ? std::min(rounded, limits.high) : limits.low);
}

// A scale or zero point that is a scalar, or has one element per slice along an axis, shaped to broadcast.
template <class F>
Tensor<F> along_axis(const Tensor<F>& parameter, const Shape& data, std::int64_t axis) {
  if (parameter.size() == 1) return parameter.reshaped({});
  axis = normal_axis(axis, static_cast<std::int64_t>(data.size()));
  if (parameter.rank() != 1 || parameter.size() != data[static_cast<std::size_t>(axis)])
    refuse("a parameter of shape {} for axis {} of shape {}", to_string(parameter.shape()), axis,
           to_string(data));
  Shape shape(data.size(), 1);
  shape[static_cast<std::size_t>(axis)] = parameter.size();
  return parameter.reshaped(shape);
}

template <class F>
Tensor<F> floats_of(const Call<F>& call, const Tensor<F>& x) {
  return cast(call, x, DType::kFloat32);
}

// round(x / scale) + zero, saturated. Without a zero point the result is uint8.
template <class F>
Tensor<F> quantized(const Call<F>& call, const Tensor<F>& x, const Tensor<F>& scale, const Tensor<F>* zero,
                    std::int64_t axis) {
  const DType dtype = zero ? zero->dtype() : DType::kUInt8;
  const Limits limits = limits_of(dtype);
  const Tensor<F> divided = combine_floats(call, x, along_axis(scale, x.shape(), axis),
                                           [](F v, F s) { return std::nearbyint(v / s); });
  const Tensor<F> shifted =
      !zero ? divided
            : combine_floats(call, divided, floats_of(call, along_axis(*zero, x.shape(), axis)),
                             [](F v, F z) { return v + z; });
  Tensor<F> y(dtype, x.shape());
  if (shifted.shape() != x.shape()) refuse("the scale is larger than the data");
  map_values(call, shifted.floats(), y.new_ints(), 4, [=](F v) { return saturated(v, limits); });
  return y;
}

// x - zero as int64, where the zero point may be absent. Not wrapped: products need the whole difference.
template <class F>
Tensor<F> without_zero(const Call<F>& call, const Tensor<F>& x, const Tensor<F>* zero, std::int64_t axis) {
  const Tensor<F> wide = cast(call, x, DType::kInt64);
  if (!zero) return wide;
  return combine_ints(call, wide, cast(call, along_axis(*zero, x.shape(), axis), DType::kInt64),
                      [](std::int64_t v, std::int64_t z) { return v - z; });
}

template <class F>
const Tensor<F>* optional(const Call<F>& call, std::size_t i) {
  return call.has(i) ? &call.in(i) : nullptr;
}

// Products of 8-bit (or 16-bit) integers, exact in int64.
template <class F>
Tensor<F> integer_product(const Call<F>& call, std::size_t a, std::size_t a_zero, std::size_t b,
                          std::size_t b_zero) {
  // The zero point of A has one element per row; a matrix of them would come as [..., rows, 1].
  const Tensor<F>* zero = optional(call, a_zero);
  const std::int64_t row_axis = std::max<std::int64_t>(call.in(a).rank() - 2, 0);
  return matmul(call, without_zero(call, call.in(a), zero, row_axis),
                without_zero(call, call.in(b), optional(call, b_zero), -1));
}

// An integer convolution, done in double, where it is exact: the products have at most 32 bits.
template <class F>
Tensor<F> integer_convolution(const Call<F>& call, const Tensor<F>& x, const Tensor<F>* x_zero,
                              const Tensor<F>& w, const Tensor<F>* w_zero) {
  const Tensor<F> a = without_zero(call, x, x_zero, 1), b = without_zero(call, w, w_zero, 0);
  const ConvShape shape(call.node, x.shape(), w.shape());
  auto doubles = [](const Tensor<F>& t) {
    return Tensor<double>(DType::kFloat64, t.shape(), std::vector<double>(t.ints().begin(), t.ints().end()));
  };
  const Tensor<double> sums =
      convolve(Call<double>{call.node, {}, call.threads}, shape, doubles(a), doubles(b));
  Tensor<F> y(DType::kInt64, sums.shape());
  map_values(call, sums.floats(), y.new_ints(), 2, [](double v) { return static_cast<std::int64_t>(v); });
  return y;
}

// round(sum * scales / result scale) + zero point, for the QLinear operators.
template <class F>
Tensor<F> requantized(const Call<F>& call, const Tensor<F>& sums, const Tensor<F>& scale, std::size_t y_scale,
                      std::size_t y_zero, std::int64_t axis) {
  const Tensor<F> values = combine_floats(call, floats_of(call, sums), along_axis(scale, sums.shape(), axis),
                                          [](F v, F s) { return v * s; });
  return quantized(call, values, call.in(y_scale), &call.in(y_zero), axis);
}

}  // namespace

KF_ORACLE_OPERATOR(QuantizeLinear) {
  return {
      quantized(call, floats_of(call, call.in(0)), call.in(1), optional(call, 2), call.int_attr("axis", 1))};
}

KF_ORACLE_OPERATOR(DequantizeLinear) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = call.int_attr("axis", 1);
  const Tensor<F> centred = floats_of(call, without_zero(call, x, optional(call, 2), axis));
  return {
      combine_floats(call, centred, along_axis(call.in(1), x.shape(), axis), [](F v, F s) { return v * s; })};
}

// Scale and zero point from the range of the data, which is widened to contain zero.
KF_ORACLE_OPERATOR(DynamicQuantizeLinear) {
  F low = 0, high = 0;
  for (F v : call.floats(0)) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const F scale = high == low ? F(1) : (high - low) / 255;
  const Limits limits = limits_of(DType::kUInt8);
  const Tensor<F> scales(DType::kFloat32, {}, std::vector<F>{scale});
  const Tensor<F> zeros(DType::kUInt8, {}, std::vector<std::int64_t>{saturated(-low / scale, limits)});
  return {quantized(call, call.in(0), scales, &zeros, 0), scales, zeros};
}

KF_ORACLE_OPERATOR(MatMulInteger) { return {cast(call, integer_product(call, 0, 2, 1, 3), DType::kInt32)}; }

KF_ORACLE_OPERATOR(ConvInteger) {
  return {cast(call, integer_convolution(call, call.in(0), optional(call, 2), call.in(1), optional(call, 3)),
               DType::kInt32)};
}

// Inputs: a, scale, zero, b, scale, zero, result scale, result zero.
KF_ORACLE_OPERATOR(QLinearMatMul) {
  const Tensor<F> sums = integer_product(call, 0, 2, 3, 5);
  const Tensor<F>&a_scale = call.in(1), &b_scale = call.in(4);
  if (a_scale.size() != 1) refuse_unsupported("a scale per row of the first matrix");
  const F factor = a_scale.floats()[0];
  const Tensor<F> scale = map_floats(call, b_scale, [=](F s) { return s * factor; });
  return {requantized(call, sums, scale, 6, 7, -1)};
}

// Inputs: x, scale, zero, w, scale, zero, result scale, result zero, bias (int32, in units of both scales).
KF_ORACLE_OPERATOR(QLinearConv) {
  Tensor<F> sums = integer_convolution(call, call.in(0), &call.in(2), call.in(3), &call.in(5));
  if (call.has(8))
    sums = combine_ints(call, sums, cast(call, along_axis(call.in(8), sums.shape(), 1), DType::kInt64),
                        [](std::int64_t v, std::int64_t b) { return v + b; });
  const F factor = call.scalar_float(1);
  const Tensor<F> scale = map_floats(call, call.in(4), [=](F s) { return s * factor; });
  return {requantized(call, sums, scale, 6, 7, 1)};
}

KF_ORACLE_INSTANTIATE(QuantizeLinear)
KF_ORACLE_INSTANTIATE(DequantizeLinear)
KF_ORACLE_INSTANTIATE(DynamicQuantizeLinear)
KF_ORACLE_INSTANTIATE(MatMulInteger)
KF_ORACLE_INSTANTIATE(ConvInteger)
KF_ORACLE_INSTANTIATE(QLinearMatMul)
KF_ORACLE_INSTANTIATE(QLinearConv)

}  // namespace kforge
