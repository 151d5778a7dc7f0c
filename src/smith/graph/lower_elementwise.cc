// Operators on single elements, with broadcasting. Formulas overflow for no finite input and keep NaN, as the
// operators' definitions ask.
#include <cmath>
#include <limits>
#include <numbers>

#include "smith/expr/arithmetic.h"
#include "smith/graph/lowering.h"

namespace kforge::smith {
namespace {

using Unary = std::function<Expr(const Expr&)>;

Expr less(const Expr& a, const Expr& b) { return binary(Op::kLess, a, b); }
Expr less_equal(const Expr& a, const Expr& b) { return binary(Op::kLessEqual, a, b); }

// What an element type cannot hold wraps around: integers are computed in 64 bits.
Expr wrapped(const Expr& e, DType dtype) {
  return type_for(dtype) == Type::kInt && size_of(dtype) < 8 ? cast(e, dtype) : e;
}

void map_one(Lowering& l, const Unary& fn) {
  const Value x = l.input(0);
  const double probe = cost_of(fn(load("x", x.dtype, {1}, {integer(0)})));
  const DType dtype = l.output_dtype();
  l.define_map([=](const Position& p) { return wrapped(fn(x.at(p)), dtype); }, x.cost + probe);
}
template <Op kOp>
void simple(Lowering& l) {
  map_one(l, [](const Expr& x) { return unary(kOp, x); });
}

// An operand that is broadcast is computed once per element of its own, where that is more than a few
// additions.
Value operand(Lowering& l, std::size_t i) {
  constexpr double kDear = 5;
  Value value = l.input(i);
  if (value.cost < kDear) return value;
  const std::int64_t elements = element_count(l.output_shape()), own = element_count(value.shape);
  const std::int64_t times = own > 0 ? std::min<std::int64_t>(elements / own, 1000) : 1;
  return l.reread(value, static_cast<int>(times), fmt::format("{}_operand{}", l.node().outputs[0], i));
}

void map_two(Lowering& l, const std::function<Expr(const Expr&, const Expr&)>& fn, double cost) {
  const Value a = operand(l, 0), b = operand(l, 1);
  const DType dtype = l.output_dtype();
  l.define_map(
      [=](const Position& p) {
        return wrapped(fn(a.at(broadcast(p, a.shape)), b.at(broadcast(p, b.shape))), dtype);
      },
      a.cost + b.cost + cost);
}
template <Op kOp>
void pair(Lowering& l) {
  map_two(
      l, [](const Expr& a, const Expr& b) { return binary(kOp, a, b); }, kOp == Op::kDiv ? 5 : 1);
}
template <Op kOp, bool kSwap>
void compare(Lowering& l) {
  map_two(
      l, [](const Expr& a, const Expr& b) { return kSwap ? binary(kOp, b, a) : binary(kOp, a, b); }, 1);
}

// Any number of inputs, folded from left to right.
template <Op kOp>
void fold(Lowering& l) {
  std::vector<Value> values;
  double cost = 0;
  for (std::size_t i = 0; i < l.node().inputs.size(); ++i) {
    values.push_back(operand(l, i));
    cost += values.back().cost + 1;
  }
  const bool mean = l.node().op == "Mean";
  l.define_map(
      [=](const Position& p) {
        Expr result = values[0].at(broadcast(p, values[0].shape));
        for (std::size_t i = 1; i < values.size(); ++i)
          result = binary(kOp, result, values[i].at(broadcast(p, values[i].shape)));
        return mean ? div(result, num(static_cast<double>(values.size()), result)) : result;
      },
      cost);
}

Expr relu(const Expr& x) { return binary(Op::kMax, x, num(0, x)); }
Expr clamp01(const Expr& x) { return binary(Op::kMin, binary(Op::kMax, x, num(0, x)), num(1, x)); }

double attr(const Lowering& l, const char* name, float otherwise) {
  return static_cast<double>(l.node().float_attr(name, otherwise));
}

void leaky_relu(Lowering& l) {
  const double alpha = attr(l, "alpha", 0.01f);
  map_one(l, [=](const Expr& x) { return select(less(x, num(0, x)), mul(num(alpha, x), x), x); });
}
void thresholded_relu(Lowering& l) {
  const double alpha = attr(l, "alpha", 1);
  map_one(l, [=](const Expr& x) { return select(less_equal(x, num(alpha, x)), num(0, x), x); });
}
void elu(Lowering& l) {
  const double alpha = attr(l, "alpha", 1);
  map_one(l, [=](const Expr& x) {
    return select(less(x, num(0, x)), mul(num(alpha, x), unary(Op::kExpm1, x)), x);
  });
}
void celu(Lowering& l) {
  const double alpha = attr(l, "alpha", 1);
  map_one(l, [=](const Expr& x) {
    return select(less(x, num(0, x)), mul(num(alpha, x), unary(Op::kExpm1, div(x, num(alpha, x)))), x);
  });
}
void selu(Lowering& l) {
  const double alpha = attr(l, "alpha", 1.67326319217681884765625f),
               gamma = attr(l, "gamma", 1.05070102214813232421875f);
  map_one(l, [=](const Expr& x) {
    return mul(num(gamma, x), select(less_equal(x, num(0, x)), mul(num(alpha, x), unary(Op::kExpm1, x)), x));
  });
}
void hard_sigmoid(Lowering& l) {
  const double alpha = attr(l, "alpha", 0.2f), beta = attr(l, "beta", 0.5f);
  map_one(l, [=](const Expr& x) { return clamp01(add(mul(num(alpha, x), x), num(beta, x))); });
}
void hard_swish(Lowering& l) {
  map_one(l, [](const Expr& x) { return mul(x, clamp01(add(mul(x, num(1.0 / 6, x)), num(0.5, x)))); });
}
void softsign(Lowering& l) {
  map_one(l, [](const Expr& x) { return div(x, add(num(1, x), unary(Op::kAbs, x))); });
}
// tanh(softplus(x)) = n / (n + 2) with n = e (e + 2), e = exp(x): one exponential instead of three functions.
// Above 20 it is 1 to the last bit, and e is cut there so that nothing overflows; NaN passes.
void mish(Lowering& l) {
  map_one(l, [](const Expr& x) {
    const Expr e = unary(Op::kExp, binary(Op::kMin, x, num(20, x)));
    const Expr n = mul(e, add(e, num(2, x)));
    return mul(x, div(n, add(n, num(2, x))));
  });
}
void swish(Lowering& l) {
  const double alpha = attr(l, "alpha", 1);
  map_one(l, [=](const Expr& x) { return mul(x, unary(Op::kSigmoid, mul(x, num(alpha, x)))); });
}
void gelu(Lowering& l) {
  const std::string approximate = l.node().string_attr("approximate", "none");
  if (approximate == "tanh") {
    // 0.5 (1 + tanh(u)) = sigmoid(2 u): no cancellation for negative x.
    const double twice = 2 * std::sqrt(2 / std::numbers::pi);
    map_one(l, [=](const Expr& x) {
      const Expr cube = mul(mul(x, x), x);
      return mul(x, unary(Op::kSigmoid, mul(num(twice, x), add(x, mul(num(0.044715, x), cube)))));
    });
    return;
  }
  map_one(l, [](const Expr& x) { return mul(x, unary(Op::kNormalCdf, x)); });
}
void shrink(Lowering& l) {
  const double bias = attr(l, "bias", 0), lambda = attr(l, "lambd", 0.5f);
  if (!is_float(l.input(0).dtype)) throw Unsupported{"of integers"};
  map_one(l, [=](const Expr& x) {
    const Expr inner =
        select(less(num(lambda, x), x), sub(x, num(bias, x)), select(unary(Op::kIsNan, x), x, num(0, x)));
    return select(less(x, num(-lambda, x)), add(x, num(bias, x)), inner);
  });
}
void clip(Lowering& l) {
  const Value x = l.input(0);
  const std::optional<Value> low = l.has(1) ? std::optional(l.input(1)) : std::nullopt;
  const std::optional<Value> high = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  l.define_map(
      [=](const Position& p) {
        Expr v = x.at(p);
        if (low) v = binary(Op::kMax, v, low->at(Position(low->rank(), integer(0))));
        if (high) v = binary(Op::kMin, v, high->at(Position(high->rank(), integer(0))));
        return v;
      },
      x.cost + 4);
}
void prelu(Lowering& l) {
  map_two(
      l, [](const Expr& x, const Expr& s) { return select(less(x, num(0, x)), mul(s, x), x); }, 3);
}

void reciprocal(Lowering& l) {
  map_one(l, [](const Expr& x) { return div(num(1, x), x); });
}
void sign(Lowering& l) {
  map_one(l, [](const Expr& x) {
    const Expr zero = x->type == Type::kInt ? integer(0) : num(0, x);
    const Expr one = x->type == Type::kInt ? integer(1) : num(1, x);
    const Expr minus = x->type == Type::kInt ? integer(-1) : num(-1, x);
    return select(less(zero, x), one, select(less(x, zero), minus, x));
  });
}
void is_inf(Lowering& l) {
  const bool positive = l.node().int_attr("detect_positive", 1) != 0,
             negative = l.node().int_attr("detect_negative", 1) != 0;
  map_one(l, [=](const Expr& x) -> Expr {
    const double infinity = std::numeric_limits<double>::infinity();
    const Expr above = binary(Op::kEqual, x, num(infinity, x)),
               below = binary(Op::kEqual, x, num(-infinity, x));
    if (positive && negative) return binary(Op::kOr, above, below);
    return positive ? above : negative ? below : number(0, Type::kBool);
  });
}
void mod(Lowering& l) {
  const bool fmod = l.node().int_attr("fmod", 0) != 0;
  map_two(
      l, [=](const Expr& a, const Expr& b) { return binary(fmod ? Op::kFmod : Op::kMod, a, b); }, 20);
}
void power(Lowering& l) {
  const Value x = l.input(0), e = l.input(1);
  const DType dtype = x.dtype;
  if (is_float(dtype) && e.tensor.empty() && e.cost == 0) {  // a constant exponent
    const Expr k = e.at(Position(e.rank(), integer(0)));
    const double exponent = k->type == Type::kInt ? static_cast<double>(k->integer) : k->number;
    if (k->op == Op::kNumber && (exponent == 2 || exponent == 0.5 || exponent == 1)) {
      map_one(l, [=](const Expr& v) {
        return exponent == 2 ? mul(v, v) : exponent == 1 ? v : unary(Op::kSqrt, v);
      });
      return;
    }
  }
  map_two(
      l,
      [=](const Expr& a, const Expr& b) {
        const Expr exponent = is_float(dtype) && b->type != a->type ? cast(b, dtype) : b;
        return binary(Op::kPow, a, exponent);
      },
      60);
}
void bit_shift(Lowering& l) {
  const bool left = l.node().string_attr("direction", "") == "LEFT";
  map_two(
      l, [=](const Expr& a, const Expr& b) { return binary(left ? Op::kShiftLeft : Op::kShiftRight, a, b); },
      1);
}
void where(Lowering& l) {
  const Value c = l.input(0), a = l.input(1), b = l.input(2);
  l.define_map(
      [=](const Position& p) {
        return select(c.at(broadcast(p, c.shape)), a.at(broadcast(p, a.shape)), b.at(broadcast(p, b.shape)));
      },
      c.cost + a.cost + b.cost + 1);
}
void cast_to(Lowering& l) {
  const DType to = l.output_dtype();
  const Value x = l.input(0);
  l.define_map([=](const Position& p) { return cast(x.at(p), to); }, x.cost + 1);
}
void identity(Lowering& l) { l.define(0, l.input(0)); }
void dropout(Lowering& l) {
  if (l.has(2)) {
    const auto training = l.constant_ints(2);
    if (training && !training->empty() && (*training)[0] != 0)
      throw Unsupported{"in training mode it draws random numbers"};
  }
  l.define(0, l.input(0));
  if (l.wants(1)) l.define_map([](const Position&) { return number(1, Type::kBool); }, 0, 1);
}
void quantize(Lowering& l) {
  const Value x = l.input(0), scale = l.input(1);
  const DType to = l.output_dtype();
  const std::optional<Value> zero = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  const std::int64_t axis = scale.rank() == 0 || element_count(scale.shape) == 1
                                ? 0
                                : normal_axis(l.node().int_attr("axis", 1), x.rank());
  const bool single = element_count(scale.shape) == 1;
  auto parameter = [=](const Value& v, const Position& p) {
    return v.at(single ? Position(v.rank(), integer(0)) : Position{p[static_cast<std::size_t>(axis)]});
  };
  const bool quantizes = l.node().op == "QuantizeLinear";
  l.define_map(
      [=](const Position& p) {
        if (!quantizes) {
          Expr v = x.at(p);
          if (zero) v = sub(v, parameter(*zero, p));
          return mul(cast(v, to), parameter(scale, p));
        }
        Expr v = unary(Op::kRound, div(x.at(p), parameter(scale, p)));
        if (zero) v = add(v, cast(parameter(*zero, p), DType::kFloat32));
        const bool is_signed = to == DType::kInt8;
        v = binary(Op::kMin, binary(Op::kMax, v, num(is_signed ? -128 : 0, v)),
                   num(is_signed ? 127 : 255, v));
        return cast(v, to);
      },
      x.cost + 12);
}

}  // namespace

const LowerTable& elementwise_table() {
  static const LowerTable table = {
      {"Abs", simple<Op::kAbs>},
      {"Neg", simple<Op::kNeg>},
      {"Sign", sign},
      {"Ceil", simple<Op::kCeil>},
      {"Floor", simple<Op::kFloor>},
      {"Round", simple<Op::kRound>},
      {"Reciprocal", reciprocal},
      {"Sqrt", simple<Op::kSqrt>},
      {"Exp", simple<Op::kExp>},
      {"Log", simple<Op::kLog>},
      {"Erf", simple<Op::kErf>},
      {"Sin", simple<Op::kSin>},
      {"Cos", simple<Op::kCos>},
      {"Tan", simple<Op::kTan>},
      {"Asin", simple<Op::kAsin>},
      {"Acos", simple<Op::kAcos>},
      {"Atan", simple<Op::kAtan>},
      {"Sinh", simple<Op::kSinh>},
      {"Cosh", simple<Op::kCosh>},
      {"Tanh", simple<Op::kTanh>},
      {"Asinh", simple<Op::kAsinh>},
      {"Acosh", simple<Op::kAcosh>},
      {"Atanh", simple<Op::kAtanh>},
      {"IsNaN", simple<Op::kIsNan>},
      {"IsInf", is_inf},
      {"Not", simple<Op::kNot>},
      {"BitwiseNot", simple<Op::kBitNot>},
      {"Relu",
       [](Lowering& l) {
         map_one(l, [](const Expr& x) {
           return x->type == Type::kInt ? binary(Op::kMax, x, integer(0)) : relu(x);
         });
       }},
      {"LeakyRelu", leaky_relu},
      {"ThresholdedRelu", thresholded_relu},
      {"Elu", elu},
      {"Celu", celu},
      {"Selu", selu},
      {"Sigmoid", simple<Op::kSigmoid>},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", hard_swish},
      {"Softplus", simple<Op::kSoftplus>},
      {"Softsign", softsign},
      {"Mish", mish},
      {"Swish", swish},
      {"Gelu", gelu},
      {"Shrink", shrink},
      {"Clip", clip},
      {"PRelu", prelu},
      {"Add", pair<Op::kAdd>},
      {"Sub", pair<Op::kSub>},
      {"Mul", pair<Op::kMul>},
      {"Div", pair<Op::kDiv>},
      {"Mod", mod},
      {"Pow", power},
      {"Max", fold<Op::kMax>},
      {"Min", fold<Op::kMin>},
      {"Sum", fold<Op::kAdd>},
      {"Mean", fold<Op::kAdd>},
      {"Equal", compare<Op::kEqual, false>},
      {"Less", compare<Op::kLess, false>},
      {"LessOrEqual", compare<Op::kLessEqual, false>},
      {"Greater", compare<Op::kLess, true>},
      {"GreaterOrEqual", compare<Op::kLessEqual, true>},
      {"And", compare<Op::kAnd, false>},
      {"Or", compare<Op::kOr, false>},
      {"Xor", compare<Op::kXor, false>},
      {"BitwiseAnd", pair<Op::kBitAnd>},
      {"BitwiseOr", pair<Op::kBitOr>},
      {"BitwiseXor", pair<Op::kBitXor>},
      {"BitShift", bit_shift},
      {"Where", where},
      {"Cast", cast_to},
      {"CastLike", cast_to},
      {"Identity", identity},
      {"Dropout", dropout},
      {"QuantizeLinear", quantize},
      {"DequantizeLinear", quantize},
  };
  return table;
}

}  // namespace kforge::smith
