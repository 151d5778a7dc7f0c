#include "smith/loops/interpret.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;

struct Fault {
  std::string why;
};

double floor_div(double a, double b) { return std::floor(a / b); }

class Interpreter {
 public:
  Interpreter(const Nest& nest, std::map<std::string, std::vector<double>>& memory, std::uint64_t seed)
      : nest_(nest), memory_(memory), random_(seed * 2654435761u + 1) {}

  void run(const Stmt& s) {
    switch (s->kind) {
      case Kind::kBlock:
        for (const Stmt& child : s->body) run(child);
        break;
      case Kind::kFor:
        loop(s);
        break;
      case Kind::kStore:
        element(s->tensor, s->view, s->position) = value(s->value);
        break;
      case Kind::kUpdate: {
        const double v = value(s->value);
        double& place = element(s->tensor, s->view, s->position);
        place = combine(s->combine, place, v);
        break;
      }
      case Kind::kNative:
        throw Fault{"native code is not interpreted"};
    }
  }

 private:
  void loop(const Stmt& s) {
    std::int64_t end = s->extent;
    if (s->limit) end = std::min(end, static_cast<std::int64_t>(value(s->limit)));
    std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(end, 0)));
    std::iota(order.begin(), order.end(), 0);
    if (s->backwards) std::reverse(order.begin(), order.end());
    if (s->run == Run::kParallel)
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next() % i]);
    const auto before = variables_.find(s->name);
    if (before != variables_.end()) throw Fault{"two loops around each other are called " + s->name};
    for (const std::int64_t i : order) {
      for (const std::string& local : s->locals)  // garbage, as on a stack
        memory_[local].assign(static_cast<std::size_t>(element_count(nest_.tensors.at(local).shape)),
                              std::nan(""));
      variables_[s->name] = static_cast<double>(i);
      run(s->body[0]);
    }
    variables_.erase(s->name);
  }

  std::uint64_t next() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    return random_ ^= random_ << 17;
  }

  double& element(const std::string& tensor, const Shape& view, const std::vector<Expr>& position) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < view.size(); ++d)
      at = at * view[d] + static_cast<std::int64_t>(value(position[d]));
    auto& values = memory_[tensor];
    if (const auto& constant = nest_.tensors.at(tensor).constant; constant && values.empty())
      values = constant->as_double();
    if (values.empty())
      values.assign(
          static_cast<std::size_t>(std::max<std::int64_t>(1, element_count(nest_.tensors.at(tensor).shape))),
          std::nan(""));
    if (at < 0 || at >= static_cast<std::int64_t>(values.size()))
      throw Fault{fmt::format("element {} of {} of '{}'", at, values.size(), tensor)};
    return values[static_cast<std::size_t>(at)];
  }

  static double larger(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  }
  static double smaller(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  }
  static double combine(Combine how, double a, double b) {
    switch (how) {
      case Combine::kProduct:
        return a * b;
      case Combine::kMax:
        return larger(a, b);
      case Combine::kMin:
        return smaller(a, b);
      default:
        return a + b;
    }
  }

  static std::int64_t whole(double v) { return static_cast<std::int64_t>(v); }

  double value(const Expr& e) {
    auto arg = [&](std::size_t i) { return value(e->args[i]); };
    switch (e->op) {
      case Op::kNumber:
        return e->type == Type::kInt || e->type == Type::kBool ? static_cast<double>(e->integer) : e->number;
      case Op::kVar: {
        const auto found = variables_.find(e->name);
        if (found == variables_.end()) throw Fault{"no loop '" + e->name + "' is around"};
        return found->second;
      }
      case Op::kAffine: {
        auto sum = static_cast<double>(e->integer);
        for (std::size_t i = 0; i < e->args.size(); ++i) sum += static_cast<double>(e->coefs[i]) * arg(i);
        return sum;
      }
      case Op::kDigit: {
        const double quotient = floor_div(arg(0), static_cast<double>(e->integer));
        return e->base == 0 ? quotient
                            : quotient - floor_div(quotient, static_cast<double>(e->base)) *
                                             static_cast<double>(e->base);
      }
      case Op::kLoad:
        return element(e->name, e->coefs, e->args);
      case Op::kCast:
        return type_for(e->dtype) == Type::kInt    ? std::trunc(arg(0))
               : type_for(e->dtype) == Type::kBool ? static_cast<double>(arg(0) != 0)
                                                   : arg(0);
      case Op::kSelect:
      case Op::kGuard:
        return arg(0) != 0 ? arg(1) : arg(2);
      case Op::kAdd:
        return arg(0) + arg(1);
      case Op::kSub:
        return arg(0) - arg(1);
      case Op::kMul:
        return arg(0) * arg(1);
      case Op::kDiv:
        return e->type == Type::kInt ? std::trunc(arg(0) / arg(1)) : arg(0) / arg(1);
      case Op::kMod:
        return arg(0) - floor_div(arg(0), arg(1)) * arg(1);
      case Op::kFmod:
        return std::fmod(arg(0), arg(1));
      case Op::kPow:
        return std::pow(arg(0), arg(1));
      case Op::kMax:
        return larger(arg(0), arg(1));
      case Op::kMin:
        return smaller(arg(0), arg(1));
      case Op::kEqual:
        return arg(0) == arg(1);
      case Op::kLess:
        return arg(0) < arg(1);
      case Op::kLessEqual:
        return arg(0) <= arg(1);
      case Op::kAnd:
        return arg(0) != 0 && arg(1) != 0;
      case Op::kOr:
        return arg(0) != 0 || arg(1) != 0;
      case Op::kXor:
        return (arg(0) != 0) != (arg(1) != 0);
      case Op::kNot:
        return arg(0) == 0;
      case Op::kNeg:
        return -arg(0);
      case Op::kAbs:
        return std::fabs(arg(0));
      case Op::kFloor:
        return std::floor(arg(0));
      case Op::kCeil:
        return std::ceil(arg(0));
      case Op::kRound:
        return std::nearbyint(arg(0));
      case Op::kSqrt:
        return std::sqrt(arg(0));
      case Op::kExp:
        return std::exp(arg(0));
      case Op::kExpm1:
        return std::expm1(arg(0));
      case Op::kLog:
        return std::log(arg(0));
      case Op::kLog1p:
        return std::log1p(arg(0));
      case Op::kErf:
        return std::erf(arg(0));
      case Op::kErfc:
        return std::erfc(arg(0));
      case Op::kNormalCdf:
        return 0.5 * std::erfc(-arg(0) / std::numbers::sqrt2);
      case Op::kTanh:
        return std::tanh(arg(0));
      case Op::kSigmoid:
        return 1 / (1 + std::exp(-arg(0)));
      case Op::kSoftplus: {
        const double x = arg(0);
        return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
      }
      case Op::kSin:
        return std::sin(arg(0));
      case Op::kCos:
        return std::cos(arg(0));
      case Op::kTan:
        return std::tan(arg(0));
      case Op::kAsin:
        return std::asin(arg(0));
      case Op::kAcos:
        return std::acos(arg(0));
      case Op::kAtan:
        return std::atan(arg(0));
      case Op::kSinh:
        return std::sinh(arg(0));
      case Op::kCosh:
        return std::cosh(arg(0));
      case Op::kAsinh:
        return std::asinh(arg(0));
      case Op::kAcosh:
        return std::acosh(arg(0));
      case Op::kAtanh:
        return std::atanh(arg(0));
      case Op::kBitAnd:
        return static_cast<double>(whole(arg(0)) & whole(arg(1)));
      case Op::kBitOr:
        return static_cast<double>(whole(arg(0)) | whole(arg(1)));
      case Op::kBitXor:
        return static_cast<double>(whole(arg(0)) ^ whole(arg(1)));
      case Op::kShiftLeft:
        return static_cast<double>(whole(arg(0)) << whole(arg(1)));
      case Op::kShiftRight:
        return static_cast<double>(whole(arg(0)) >> whole(arg(1)));
      case Op::kBitNot:
        return static_cast<double>(~whole(arg(0)));
      case Op::kIsNan:
        return std::isnan(arg(0));
      case Op::kIsInf:
        return std::isinf(arg(0));
      default:
        throw Fault{fmt::format("{} is not interpreted", name_of(e->op))};
    }
  }

  const Nest& nest_;
  std::map<std::string, std::vector<double>>& memory_;
  std::map<std::string, double> variables_;
  std::uint64_t random_;
};

}  // namespace

Result<void> interpret(const Nest& nest, std::map<std::string, std::vector<double>>& memory,
                       std::uint64_t seed) {
  try {
    Interpreter interpreter(nest, memory, seed);
    for (const Stmt& s : nest.root->body) interpreter.run(s);
  } catch (const Fault& fault) {
    return fail("{}", fault.why);
  }
  return {};
}

}  // namespace kforge::smith
