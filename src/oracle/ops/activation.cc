// Activation functions. Each formula is written so that it overflows for no finite input and keeps NaN.
#include <cmath>
#include <numbers>

#include "oracle/elementwise.h"

namespace kforge {
namespace {

template <class F>
F sigmoid(F x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const F e = std::exp(x);
  return e / (1 + e);
}

template <class F>
F softplus(F x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// max(0, min(1, x)), NaN stays NaN.
template <class F>
F clamp01(F x) {
  return x < 0 ? F(0) : x > 1 ? F(1) : x;
}

}  // namespace

KF_ORACLE_OPERATOR(Relu) {
  if (!call.in(0).has_floats())
    return {map_ints(call, call.in(0), [](std::int64_t x) { return x < 0 ? 0 : x; })};
  return {map_floats(call, call.in(0), [](F x) { return x < 0 ? F(0) : x; })};
}
KF_ORACLE_OPERATOR(LeakyRelu) {
  const F alpha = call.float_attr("alpha", 0.01f);
  return {map_floats(call, call.in(0), [=](F x) { return x < 0 ? alpha * x : x; })};
}
KF_ORACLE_OPERATOR(ThresholdedRelu) {
  const F alpha = call.float_attr("alpha", 1);
  return {map_floats(call, call.in(0), [=](F x) { return x <= alpha ? F(0) : x; })};
}
KF_ORACLE_OPERATOR(Elu) {
  const F alpha = call.float_attr("alpha", 1);
  return {map_floats(call, call.in(0), [=](F x) { return x < 0 ? alpha * std::expm1(x) : x; })};
}
KF_ORACLE_OPERATOR(Celu) {
  const F alpha = call.float_attr("alpha", 1);
  return {map_floats(call, call.in(0), [=](F x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; })};
}
KF_ORACLE_OPERATOR(Selu) {
  const F alpha = call.float_attr("alpha", 1.67326319217681884765625f);
  const F gamma = call.float_attr("gamma", 1.05070102214813232421875f);
  return {map_floats(call, call.in(0), [=](F x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); })};
}
KF_ORACLE_OPERATOR(Sigmoid) { return {map_floats(call, call.in(0), sigmoid<F>)}; }
KF_ORACLE_OPERATOR(HardSigmoid) {
  const F alpha = call.float_attr("alpha", 0.2f), beta = call.float_attr("beta", 0.5f);
  return {map_floats(call, call.in(0), [=](F x) { return clamp01(alpha * x + beta); })};
}
KF_ORACLE_OPERATOR(HardSwish) {
  return {map_floats(call, call.in(0), [](F x) { return x * clamp01(x / 6 + F(0.5)); })};
}
KF_ORACLE_OPERATOR(Softplus) { return {map_floats(call, call.in(0), softplus<F>)}; }
KF_ORACLE_OPERATOR(Softsign) {
  return {map_floats(call, call.in(0), [](F x) { return x / (1 + std::fabs(x)); })};
}
KF_ORACLE_OPERATOR(Mish) {
  return {map_floats(call, call.in(0), [](F x) { return x * std::tanh(softplus(x)); })};
}
KF_ORACLE_OPERATOR(Swish) {
  const F alpha = call.float_attr("alpha", 1);
  return {map_floats(call, call.in(0), [=](F x) { return x * sigmoid(alpha * x); })};
}
KF_ORACLE_OPERATOR(Gelu) {
  const std::string approximate = call.node.string_attr("approximate", "none");
  if (approximate == "tanh") {
    const F scale = std::sqrt(F(2) / std::numbers::pi_v<F>);
    return {map_floats(call, call.in(0), [=](F x) {
      return F(0.5) * x * (1 + std::tanh(scale * (x + F(0.044715) * x * x * x)));
    })};
  }
  if (approximate != "none") refuse("approximate is \"{}\", not \"none\" or \"tanh\"", approximate);
  // 1 + erf(z) = erfc(-z), which does not cancel for negative x.
  return {map_floats(call, call.in(0),
                     [](F x) { return F(0.5) * x * std::erfc(-x / std::numbers::sqrt2_v<F>); })};
}
KF_ORACLE_OPERATOR(Shrink) {
  const F bias = call.float_attr("bias", 0), lambd = call.float_attr("lambd", 0.5f);
  auto shrink = [=](F x) { return x < -lambd ? x + bias : x > lambd ? x - bias : std::isnan(x) ? x : F(0); };
  if (call.in(0).has_floats()) return {map_floats(call, call.in(0), shrink)};
  return {
      map_ints(call, call.in(0), [=](std::int64_t x) { return int_from_float(shrink(static_cast<F>(x))); })};
}

// Limits are scalars; either may be absent. NaN passes through.
KF_ORACLE_OPERATOR(Clip) {
  const Tensor<F>& x = call.in(0);
  if (x.has_floats()) {
    const F low = call.has(1) ? call.scalar_float(1) : -std::numeric_limits<F>::infinity();
    const F high = call.has(2) ? call.scalar_float(2) : std::numeric_limits<F>::infinity();
    return {map_floats(call, x, [=](F v) {
      const F raised = v < low ? low : v;
      return raised > high ? high : raised;  // the upper limit wins where the two cross
    })};
  }
  auto clip = [&]<class T>(T low, T high) {
    if (call.has(1)) low = static_cast<T>(call.scalar_int(1));
    if (call.has(2)) high = static_cast<T>(call.scalar_int(2));
    return map_ints(call, x, [=](std::int64_t v) {
      const T raised = std::max(static_cast<T>(v), low);
      return static_cast<std::int64_t>(std::min(raised, high));
    });
  };
  using Unsigned = std::numeric_limits<std::uint64_t>;
  using Signed = std::numeric_limits<std::int64_t>;
  if (x.dtype() == DType::kUInt64) return {clip(Unsigned::min(), Unsigned::max())};
  return {clip(Signed::min(), Signed::max())};
}

// The slope broadcasts to the shape of the input.
KF_ORACLE_OPERATOR(PRelu) {
  const Tensor<F>&x = call.in(0), &slope = call.in(1);
  broadcast_strides(slope.shape(), x.shape());  // refuses a slope that is larger
  if (x.has_floats()) return {combine_floats(call, x, slope, [](F v, F s) { return v < 0 ? s * v : v; })};
  return {combine_ints(call, x, slope, [](std::int64_t v, std::int64_t s) {
    return v < 0 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(s))
                 : v;
  })};
}

KF_ORACLE_INSTANTIATE(Relu)
KF_ORACLE_INSTANTIATE(LeakyRelu)
KF_ORACLE_INSTANTIATE(ThresholdedRelu)
KF_ORACLE_INSTANTIATE(Elu)
KF_ORACLE_INSTANTIATE(Celu)
KF_ORACLE_INSTANTIATE(Selu)
KF_ORACLE_INSTANTIATE(Sigmoid)
KF_ORACLE_INSTANTIATE(HardSigmoid)
KF_ORACLE_INSTANTIATE(HardSwish)
KF_ORACLE_INSTANTIATE(Softplus)
KF_ORACLE_INSTANTIATE(Softsign)
KF_ORACLE_INSTANTIATE(Mish)
KF_ORACLE_INSTANTIATE(Swish)
KF_ORACLE_INSTANTIATE(Gelu)
KF_ORACLE_INSTANTIATE(Shrink)
KF_ORACLE_INSTANTIATE(Clip)
KF_ORACLE_INSTANTIATE(PRelu)

}  // namespace kforge
