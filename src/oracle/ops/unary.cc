// Operators on single elements: arithmetic, rounding, exponentials and trigonometry.
#include <cmath>

#include "oracle/elementwise.h"

namespace kforge {
namespace {

// A floating operator without attributes.
template <class F, class Fn>
Outputs<F> floats(const Call<F>& call, const Fn& fn) {
  return {map_floats(call, call.in(0), fn)};
}

// One that exists for integers too.
template <class F, class Fn, class IntFn>
Outputs<F> numbers(const Call<F>& call, const Fn& fn, const IntFn& int_fn) {
  const Tensor<F>& x = call.in(0);
  if (x.has_floats()) return {map_floats(call, x, fn)};
  return {map_ints(call, x, int_fn)};
}

// A property of floating elements.
template <class F, class Fn>
Outputs<F> property(const Call<F>& call, const Fn& fn) {
  Tensor<F> y(DType::kBool, call.in(0).shape());
  map_values(call, call.floats(0), y.new_ints(), 4, [&](F x) { return std::int64_t{fn(x)}; });
  return {y};
}

// Negation that wraps around at the smallest value instead of being undefined.
std::int64_t negated(std::int64_t x) { return static_cast<std::int64_t>(-static_cast<std::uint64_t>(x)); }

}  // namespace

KF_ORACLE_OPERATOR(Abs) {
  const bool is_signed = call.in(0).dtype() != DType::kUInt64;
  return numbers(
      call, [](F x) { return std::fabs(x); },
      [=](std::int64_t x) { return x < 0 && is_signed ? negated(x) : x; });
}
KF_ORACLE_OPERATOR(Neg) {
  return numbers(
      call, [](F x) { return -x; }, negated);
}
KF_ORACLE_OPERATOR(Sign) {
  const bool is_signed = call.in(0).dtype() != DType::kUInt64;
  return numbers(
      call, [](F x) { return x > 0   ? F(1)
                             : x < 0 ? F(-1)
                                     : x; },  // NaN stays NaN
      [=](std::int64_t x) { return std::int64_t{x != 0 ? (x < 0 && is_signed ? -1 : 1) : 0}; });
}
KF_ORACLE_OPERATOR(Ceil) {
  return floats(call, [](F x) { return std::ceil(x); });
}
KF_ORACLE_OPERATOR(Floor) {
  return floats(call, [](F x) { return std::floor(x); });
}
KF_ORACLE_OPERATOR(Round) {
  return floats(call, [](F x) { return std::nearbyint(x); });
}  // half to even
KF_ORACLE_OPERATOR(Reciprocal) {
  return floats(call, [](F x) { return F(1) / x; });
}
KF_ORACLE_OPERATOR(Sqrt) {
  return floats(call, [](F x) { return std::sqrt(x); });
}
KF_ORACLE_OPERATOR(Exp) {
  return floats(call, [](F x) { return std::exp(x); });
}
KF_ORACLE_OPERATOR(Log) {
  return floats(call, [](F x) { return std::log(x); });
}
KF_ORACLE_OPERATOR(Erf) {
  return floats(call, [](F x) { return std::erf(x); });
}
KF_ORACLE_OPERATOR(Sin) {
  return floats(call, [](F x) { return std::sin(x); });
}
KF_ORACLE_OPERATOR(Cos) {
  return floats(call, [](F x) { return std::cos(x); });
}
KF_ORACLE_OPERATOR(Tan) {
  return floats(call, [](F x) { return std::tan(x); });
}
KF_ORACLE_OPERATOR(Asin) {
  return floats(call, [](F x) { return std::asin(x); });
}
KF_ORACLE_OPERATOR(Acos) {
  return floats(call, [](F x) { return std::acos(x); });
}
KF_ORACLE_OPERATOR(Atan) {
  return floats(call, [](F x) { return std::atan(x); });
}
KF_ORACLE_OPERATOR(Sinh) {
  return floats(call, [](F x) { return std::sinh(x); });
}
KF_ORACLE_OPERATOR(Cosh) {
  return floats(call, [](F x) { return std::cosh(x); });
}
KF_ORACLE_OPERATOR(Tanh) {
  return floats(call, [](F x) { return std::tanh(x); });
}
KF_ORACLE_OPERATOR(Asinh) {
  return floats(call, [](F x) { return std::asinh(x); });
}
KF_ORACLE_OPERATOR(Acosh) {
  return floats(call, [](F x) { return std::acosh(x); });
}
KF_ORACLE_OPERATOR(Atanh) {
  return floats(call, [](F x) { return std::atanh(x); });
}

KF_ORACLE_OPERATOR(IsNaN) {
  return property(call, [](F x) { return std::isnan(x); });
}
KF_ORACLE_OPERATOR(IsInf) {
  const bool positive = call.int_attr("detect_positive", 1) != 0,
             negative = call.int_attr("detect_negative", 1) != 0;
  return property(call, [=](F x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}
KF_ORACLE_OPERATOR(Not) {
  return {map_ints(call, call.in(0), [](std::int64_t x) { return std::int64_t{x == 0}; })};
}
KF_ORACLE_OPERATOR(BitwiseNot) {
  return {map_ints(call, call.in(0), [](std::int64_t x) { return ~x; })};
}

KF_ORACLE_INSTANTIATE(Abs)
KF_ORACLE_INSTANTIATE(Neg)
KF_ORACLE_INSTANTIATE(Sign)
KF_ORACLE_INSTANTIATE(Ceil)
KF_ORACLE_INSTANTIATE(Floor)
KF_ORACLE_INSTANTIATE(Round)
KF_ORACLE_INSTANTIATE(Reciprocal)
KF_ORACLE_INSTANTIATE(Sqrt)
KF_ORACLE_INSTANTIATE(Exp)
KF_ORACLE_INSTANTIATE(Log)
KF_ORACLE_INSTANTIATE(Erf)
KF_ORACLE_INSTANTIATE(Sin)
KF_ORACLE_INSTANTIATE(Cos)
KF_ORACLE_INSTANTIATE(Tan)
KF_ORACLE_INSTANTIATE(Asin)
KF_ORACLE_INSTANTIATE(Acos)
KF_ORACLE_INSTANTIATE(Atan)
KF_ORACLE_INSTANTIATE(Sinh)
KF_ORACLE_INSTANTIATE(Cosh)
KF_ORACLE_INSTANTIATE(Tanh)
KF_ORACLE_INSTANTIATE(Asinh)
KF_ORACLE_INSTANTIATE(Acosh)
KF_ORACLE_INSTANTIATE(Atanh)
KF_ORACLE_INSTANTIATE(IsNaN)
KF_ORACLE_INSTANTIATE(IsInf)
KF_ORACLE_INSTANTIATE(Not)
KF_ORACLE_INSTANTIATE(BitwiseNot)

}  // namespace kforge
