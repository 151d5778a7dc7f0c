// One step of an optimizer over any number of tensors: elementwise in parameter, gradient and moments.
#include "smith/expr/arithmetic.h"
#include "smith/graph/lowering.h"

namespace kforge::smith {
namespace {

// Inputs: rate, count of steps, then groups of n tensors each: values, gradients, moments.
struct Step {
  Lowering& l;
  std::size_t count;
  Value rate, steps;

  Step(Lowering& lowering, std::size_t groups)
      : l(lowering),
        count((lowering.node().inputs.size() - 2) / groups),
        rate(l.input(0)),
        steps(l.input(1)) {}

  const Value& tensor(std::size_t group, std::size_t i) const { return l.input(2 + group * count + i); }
  Expr number_of(const char* attribute, float otherwise) const {
    return number(static_cast<double>(l.node().float_attr(attribute, otherwise)), rate.type());
  }
  Expr rate_now() const { return rate.at(Position(rate.rank(), integer(0))); }
  Expr steps_now() const { return cast(steps.at(Position(steps.rank(), integer(0))), rate.dtype); }
  // The gradient with the penalty on the value.
  std::function<Expr(const Position&)> gradient(std::size_t i) const {
    const Value x = tensor(0, i), g = tensor(1, i);
    const Expr norm = number_of("norm_coefficient", 0);
    return [=](const Position& p) { return add(mul(norm, x.at(p)), g.at(p)); };
  }
  // Scalars that every element needs are computed once.
  Expr once(const Expr& scalar, const char* hint) const {
    Value value{rate.dtype, {}, [scalar](const Position&) { return scalar; }, {}, 100};
    return l.materialize(value, hint).at({});
  }
  void put(std::size_t group, std::size_t i, std::function<Expr(const Position&)> at, double cost) {
    if (l.wants(group * count + i)) l.define_map(std::move(at), cost, group * count + i);
  }
};

void adagrad(Lowering& l) {
  Step step(l, 3);
  const Expr one = number(1, step.rate.type());
  const Expr rate = step.once(
      div(step.rate_now(), add(one, mul(step.steps_now(), step.number_of("decay_factor", 0)))), "rate");
  const Expr epsilon = step.number_of("epsilon", 1e-6f);
  for (std::size_t i = 0; i < step.count; ++i) {
    const auto g = step.gradient(i);
    const Value x = step.tensor(0, i), h = step.tensor(2, i);
    auto squares = [=](const Position& p) {
      const Expr now = g(p);
      return add(h.at(p), mul(now, now));
    };
    step.put(
        0, i,
        [=](const Position& p) {
          return sub(x.at(p), mul(rate, div(g(p), add(unary(Op::kSqrt, squares(p)), epsilon))));
        },
        20);
    step.put(1, i, squares, 5);
  }
}

void adam(Lowering& l) {
  Step step(l, 4);
  const Type type = step.rate.type();
  const Expr one = number(1, type), zero = number(0, type);
  const Expr alpha = step.number_of("alpha", 0.9f), beta = step.number_of("beta", 0.999f),
             epsilon = step.number_of("epsilon", 1e-6f), post = step.number_of("norm_coefficient_post", 0);
  const Expr t = step.steps_now();
  const Expr corrected = mul(step.rate_now(), div(unary(Op::kSqrt, sub(one, binary(Op::kPow, beta, t))),
                                                  sub(one, binary(Op::kPow, alpha, t))));
  const Expr rate = step.once(select(binary(Op::kLess, zero, t), corrected, step.rate_now()), "rate");
  for (std::size_t i = 0; i < step.count; ++i) {
    const auto g = step.gradient(i);
    const Value x = step.tensor(0, i), v = step.tensor(2, i), h = step.tensor(3, i);
    auto mean = [=](const Position& p) { return add(mul(alpha, v.at(p)), mul(sub(one, alpha), g(p))); };
    auto square = [=](const Position& p) {
      const Expr now = g(p);
      return add(mul(beta, h.at(p)), mul(mul(sub(one, beta), now), now));
    };
    step.put(
        0, i,
        [=](const Position& p) {
          const Expr moved = sub(x.at(p), mul(rate, div(mean(p), add(unary(Op::kSqrt, square(p)), epsilon))));
          return mul(sub(one, post), moved);
        },
        30);
    step.put(1, i, mean, 6);
    step.put(2, i, square, 6);
  }
}

void momentum(Lowering& l) {
  Step step(l, 3);
  const Expr alpha = step.number_of("alpha", 0);
  const Expr first = number(1, step.rate.type()), later = step.number_of("beta", 0);
  const Expr beta = step.once(
      select(binary(Op::kLess, number(0, step.rate.type()), step.steps_now()), later, first), "beta");
  const Expr rate = step.once(step.rate_now(), "rate");
  const bool nesterov = l.node().string_attr("mode", "standard") == "nesterov";
  for (std::size_t i = 0; i < step.count; ++i) {
    const auto g = step.gradient(i);
    const Value x = step.tensor(0, i), v = step.tensor(2, i);
    auto speed = [=](const Position& p) { return add(mul(alpha, v.at(p)), mul(beta, g(p))); };
    step.put(
        0, i,
        [=](const Position& p) {
          const Expr move = nesterov ? add(g(p), mul(alpha, speed(p))) : speed(p);
          return sub(x.at(p), mul(rate, move));
        },
        12);
    step.put(1, i, speed, 6);
  }
}

}  // namespace

const LowerTable& optimizer_table() {
  static const LowerTable table = {{"Adagrad", adagrad}, {"Adam", adam}, {"Momentum", momentum}};
  return table;
}

}  // namespace kforge::smith
