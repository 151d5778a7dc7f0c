// Arithmetic on two tensors, and on any number of them, with broadcasting.
#include <cmath>
#include <limits>

#include "oracle/elementwise.h"

namespace kforge {
namespace {

using Unsigned = std::uint64_t;

// Integer arithmetic is done on unsigned values, where overflow wraps around, and for uint64 is all there is.
template <class F, class Fn, class IntFn>
Tensor<F> arithmetic(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b, const Fn& fn,
                     const IntFn& int_fn) {
  require_same_dtype(a.dtype(), b.dtype());
  if (a.has_floats()) return combine_floats(call, a, b, fn);
  return combine_ints(call, a, b, int_fn);
}

template <class F, class Fn>
Outputs<F> wrapping(const Call<F>& call, const Fn& fn) {
  return {arithmetic(call, call.in(0), call.in(1), fn, [&](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(fn(static_cast<Unsigned>(x), static_cast<Unsigned>(y)));
  })};
}

// Towards zero. The smallest value divided by -1 wraps around.
std::int64_t divide(std::int64_t x, std::int64_t y) {
  if (y == 0) refuse("an integer is divided by zero");
  return y == -1 ? static_cast<std::int64_t>(-static_cast<Unsigned>(x)) : x / y;
}
std::int64_t divide_unsigned(std::int64_t x, std::int64_t y) {
  if (y == 0) refuse("an integer is divided by zero");
  return static_cast<std::int64_t>(static_cast<Unsigned>(x) / static_cast<Unsigned>(y));
}

// The remainder has the sign of the dividend (fmod) or of the divisor.
std::int64_t remainder_like_dividend(std::int64_t x, std::int64_t y) {
  if (y == 0) refuse("an integer is divided by zero");
  return y == -1 ? 0 : x % y;
}
std::int64_t remainder_like_divisor(std::int64_t x, std::int64_t y) {
  const std::int64_t r = remainder_like_dividend(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
std::int64_t remainder_unsigned(std::int64_t x, std::int64_t y) {
  if (y == 0) refuse("an integer is divided by zero");
  return static_cast<std::int64_t>(static_cast<Unsigned>(x) % static_cast<Unsigned>(y));
}
template <class F>
F float_remainder_like_divisor(F x, F y) {
  const F r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) refuse("zero is raised to a negative power");
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  Unsigned result = 1;
  for (Unsigned square = static_cast<Unsigned>(base); exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return static_cast<std::int64_t>(result);
}

// Folds all inputs from left to right.
template <class F, class Step>
Tensor<F> fold(const Call<F>& call, const Step& step) {
  Tensor<F> result = call.in(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) result = step(result, call.in(i));
  return result;
}

// The larger (or smaller) value; NaN wins over everything.
template <class F, bool kLarger>
Tensor<F> extreme(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b) {
  auto pick = [](auto x, auto y) { return kLarger ? (x < y ? y : x) : (y < x ? y : x); };
  const bool is_unsigned = a.dtype() == DType::kUInt64;
  return arithmetic(
      call, a, b, [&](F x, F y) { return std::isnan(x)   ? x
                                         : std::isnan(y) ? y
                                                         : pick(x, y); },
      [&](std::int64_t x, std::int64_t y) {
        if (is_unsigned)
          return static_cast<std::int64_t>(pick(static_cast<Unsigned>(x), static_cast<Unsigned>(y)));
        return pick(x, y);
      });
}

template <class F>
Tensor<F> sum_of_inputs(const Call<F>& call) {
  return fold(call, [&](const Tensor<F>& a, const Tensor<F>& b) {
    require_same_dtype(a.dtype(), b.dtype());
    return combine_floats(call, a, b, [](F x, F y) { return x + y; });
  });
}

}  // namespace

KF_ORACLE_OPERATOR(Add) {
  return wrapping(call, [](auto x, auto y) { return x + y; });
}
KF_ORACLE_OPERATOR(Sub) {
  return wrapping(call, [](auto x, auto y) { return x - y; });
}
KF_ORACLE_OPERATOR(Mul) {
  return wrapping(call, [](auto x, auto y) { return x * y; });
}
KF_ORACLE_OPERATOR(Div) {
  const bool is_unsigned = call.in(0).dtype() == DType::kUInt64;
  return {arithmetic(
      call, call.in(0), call.in(1), [](F x, F y) { return x / y; }, is_unsigned ? divide_unsigned : divide)};
}
KF_ORACLE_OPERATOR(Mod) {
  const bool like_dividend = call.int_attr("fmod", 0) != 0;
  const auto float_remainder =
      like_dividend ? +[](F x, F y) { return std::fmod(x, y); } : float_remainder_like_divisor<F>;
  const auto remainder = call.in(0).dtype() == DType::kUInt64 ? remainder_unsigned
                         : like_dividend                      ? remainder_like_dividend
                                                              : remainder_like_divisor;
  return {arithmetic(call, call.in(0), call.in(1), float_remainder, remainder)};
}

// The result has the type of the base, whatever that of the exponent.
KF_ORACLE_OPERATOR(Pow) {
  const Tensor<F>&a = call.in(0), &b = call.in(1);
  const DType dtype = a.dtype();
  Tensor<F> r(dtype, broadcast_shape(a.shape(), b.shape()));
  auto combine = [&](const auto& x, const auto& y, auto& to, const auto& fn) {
    combine_values(call, r.shape(), x, a.shape(), y, b.shape(), to, fn);
  };
  if (a.has_floats() && b.has_floats())
    combine(a.floats(), b.floats(), r.new_floats(), [](F x, F y) { return std::pow(x, y); });
  else if (a.has_floats())
    combine(a.floats(), b.ints(), r.new_floats(),
            [](F x, std::int64_t y) { return std::pow(x, static_cast<F>(y)); });
  else if (b.has_floats())
    combine(a.ints(), b.floats(), r.new_ints(), [&](std::int64_t x, F y) {
      return wrap_to(dtype, int_from_float(std::pow(static_cast<double>(x), static_cast<double>(y))));
    });
  else
    combine(a.ints(), b.ints(), r.new_ints(),
            [&](std::int64_t x, std::int64_t y) { return wrap_to(dtype, integer_power(x, y)); });
  return {r};
}

KF_ORACLE_OPERATOR(Max) {
  return {fold(call, [&](const Tensor<F>& a, const Tensor<F>& b) { return extreme<F, true>(call, a, b); })};
}
KF_ORACLE_OPERATOR(Min) {
  return {fold(call, [&](const Tensor<F>& a, const Tensor<F>& b) { return extreme<F, false>(call, a, b); })};
}
KF_ORACLE_OPERATOR(Sum) { return {sum_of_inputs(call)}; }
KF_ORACLE_OPERATOR(Mean) {
  const F count = static_cast<F>(call.inputs.size());
  return {map_floats(call, sum_of_inputs(call), [=](F x) { return x / count; })};
}

KF_ORACLE_INSTANTIATE(Add)
KF_ORACLE_INSTANTIATE(Sub)
KF_ORACLE_INSTANTIATE(Mul)
KF_ORACLE_INSTANTIATE(Div)
KF_ORACLE_INSTANTIATE(Mod)
KF_ORACLE_INSTANTIATE(Pow)
KF_ORACLE_INSTANTIATE(Max)
KF_ORACLE_INSTANTIATE(Min)
KF_ORACLE_INSTANTIATE(Sum)
KF_ORACLE_INSTANTIATE(Mean)

}  // namespace kforge
