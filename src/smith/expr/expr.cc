#include "smith/expr/expr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kforge::smith {
namespace {

struct OpRow {
  std::string_view name;
  double cost;
};

const OpRow& row_of(Op op) {
  static const OpRow rows[] = {
      {"number", 0},   {"var", 0},        {"affine", 0},      {"digit", 2},       {"load", 1},
      {"cast", 1},     {"select", 1},     {"guard", 1},       {"add", 1},         {"sub", 1},
      {"mul", 1},      {"div", 5},        {"mod", 20},        {"fmod", 20},       {"pow", 60},
      {"max", 2},      {"min", 2},        {"equal", 1},       {"less", 1},        {"less_equal", 1},
      {"and", 1},      {"or", 1},         {"xor", 1},         {"bit_and", 1},     {"bit_or", 1},
      {"bit_xor", 1},  {"shift_left", 1}, {"shift_right", 1}, {"not", 1},         {"bit_not", 1},
      {"neg", 1},      {"abs", 1},        {"sign", 2},        {"floor", 1},       {"ceil", 1},
      {"round", 1},    {"sqrt", 6},       {"exp", 14},        {"expm1", 20},      {"log", 16},
      {"log1p", 20},   {"erf", 30},       {"erfc", 40},       {"normal_cdf", 18}, {"tanh", 20},
      {"sigmoid", 20}, {"softplus", 28},  {"sin", 60},        {"cos", 60},        {"tan", 80},
      {"asin", 60},    {"acos", 60},      {"atan", 60},       {"sinh", 60},       {"cosh", 60},
      {"asinh", 60},   {"acosh", 60},     {"atanh", 60},      {"is_nan", 1},      {"is_inf", 1},
  };
  return rows[static_cast<std::size_t>(op)];
}

Expr make(ExprNode node) { return std::make_shared<const ExprNode>(std::move(node)); }

// A position as a sum: what every operation on positions starts from.
struct Sum {
  std::int64_t constant = 0;
  std::vector<std::pair<Expr, std::int64_t>> terms;

  void add(const Expr& e, std::int64_t factor) {
    if (factor == 0) return;
    if (e->op == Op::kNumber) {
      constant += factor * e->integer;
    } else if (e->op == Op::kAffine) {
      constant += factor * e->integer;
      for (std::size_t i = 0; i < e->args.size(); ++i) add_atom(e->args[i], factor * e->coefs[i]);
    } else {
      add_atom(e, factor);
    }
  }
  void add_atom(const Expr& atom, std::int64_t factor) {
    for (auto& [other, coef] : terms)
      if (same(other, atom)) {
        coef += factor;
        return;
      }
    terms.emplace_back(atom, factor);
  }
};

// digit(f, p, q) * c + digit(f, p q, r) * c q = digit(f, p, q r) * c: the digits of one number, put together.
bool combine_digits(Sum& sum) {
  for (std::size_t i = 0; i < sum.terms.size(); ++i) {
    const Expr low = sum.terms[i].first;
    if (low->op != Op::kDigit || low->base == 0) continue;
    for (std::size_t j = 0; j < sum.terms.size(); ++j) {
      const Expr high = sum.terms[j].first;
      if (i == j || sum.terms[j].second != sum.terms[i].second * low->base) continue;
      if (high->op == Op::kDigit && high->integer == low->integer * low->base &&
          same(high->args[0], low->args[0])) {
        const std::int64_t factor = sum.terms[i].second, base = high->base == 0 ? 0 : low->base * high->base;
        const Expr joined = digit(low->args[0], low->integer, base);
        sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        sum.add(joined, factor);
        return true;
      }
    }
  }
  return false;
}

Expr position_from(Sum sum) {
  while (combine_digits(sum)) {
  }
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  if (sum.terms.empty()) return integer(sum.constant);
  if (sum.terms.size() == 1 && sum.constant == 0 && sum.terms[0].second == 1) return sum.terms[0].first;
  std::stable_sort(sum.terms.begin(), sum.terms.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  ExprNode node{.op = Op::kAffine, .type = Type::kInt, .integer = sum.constant};
  for (auto& [atom, coef] : sum.terms) {
    node.args.push_back(atom);
    node.coefs.push_back(coef);
  }
  return make(std::move(node));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

}  // namespace

Type type_for(DType dtype) {
  if (dtype == DType::kFloat64) return Type::kDouble;
  if (is_float(dtype)) return Type::kFloat;
  return dtype == DType::kBool ? Type::kBool : Type::kInt;
}

std::string_view name_of(Op op) { return row_of(op).name; }

Expr number(double value, Type type) {
  if (type == Type::kInt || type == Type::kBool) {
    ExprNode node{.op = Op::kNumber, .type = type, .integer = static_cast<std::int64_t>(value)};
    return make(std::move(node));
  }
  return make({.op = Op::kNumber, .type = type, .number = value});
}
Expr integer(std::int64_t value) { return make({.op = Op::kNumber, .type = Type::kInt, .integer = value}); }
Expr variable(const std::string& name, std::int64_t extent) {
  return make({.op = Op::kVar, .type = Type::kInt, .integer = extent, .name = name});
}
Expr load(const std::string& tensor, DType dtype, Shape view, std::vector<Expr> position) {
  ExprNode node{
      .op = Op::kLoad, .type = type_for(dtype), .name = tensor, .coefs = std::move(view), .dtype = dtype};
  node.args = std::move(position);
  return make(std::move(node));
}
Expr cast(Expr value, DType to) {
  const Type type = type_for(to);
  const bool narrow = to == DType::kFloat16 || to == DType::kBFloat16;
  if (type == value->type && !narrow && type != Type::kInt) return value;
  if (value->op == Op::kNumber && (type == Type::kFloat || type == Type::kDouble) && !narrow) {
    const double v = value->type == Type::kInt || value->type == Type::kBool
                         ? static_cast<double>(value->integer)
                         : value->number;
    return number(v, type);
  }
  return make({.op = Op::kCast, .type = type, .dtype = to, .args = {std::move(value)}});
}
Expr select(Expr condition, Expr a, Expr b) {
  if (condition->op == Op::kNumber) return condition->integer != 0 ? a : b;
  const Type type = a->type;
  return make({.op = Op::kSelect, .type = type, .args = {std::move(condition), std::move(a), std::move(b)}});
}
Expr guard(Expr condition, Expr inside, Expr outside) {
  if (!condition) return inside;
  if (condition->op == Op::kNumber) return condition->integer != 0 ? inside : outside;
  const Type type = inside->type;
  return make({.op = Op::kGuard,
               .type = type,
               .args = {std::move(condition), std::move(inside), std::move(outside)}});
}

namespace {

bool is_real(const Expr& e) {
  return e->op == Op::kNumber && (e->type == Type::kFloat || e->type == Type::kDouble);
}

// Arithmetic on two numbers, rounded as the kernel would: an exporter writes the scale of an attention as
// 64 ^ -0.5.
std::optional<Expr> folded(Op op, const Expr& a, const Expr& b) {
  if (!is_real(a) || !is_real(b) || a->type != b->type) return std::nullopt;
  const auto compute = [op](auto x, auto y) -> std::optional<double> {
    switch (op) {
      case Op::kAdd:
        return x + y;
      case Op::kSub:
        return x - y;
      case Op::kMul:
        return x * y;
      case Op::kDiv:
        return x / y;
      case Op::kPow:
        return std::pow(x, y);
      default:
        return std::nullopt;
    }
  };
  const auto value = a->type == Type::kFloat
                         ? compute(static_cast<float>(a->number), static_cast<float>(b->number))
                         : compute(a->number, b->number);
  if (!value) return std::nullopt;
  return number(*value, a->type);
}

}  // namespace

Expr unary(Op op, Expr a) {
  const Type type = op == Op::kIsNan || op == Op::kIsInf || op == Op::kNot ? Type::kBool : a->type;
  return make({.op = op, .type = type, .args = {std::move(a)}});
}

Expr binary(Op op, Expr a, Expr b) {
  const bool compares = op == Op::kEqual || op == Op::kLess || op == Op::kLessEqual;
  if (compares && is_position(a) && is_position(b)) {  // decided where the ranges do not overlap
    const Range difference = range_of(plus(a, times(b, -1)));
    const bool below = difference.high<0, above = difference.low> 0;
    if (op == Op::kLess && (below || difference.low >= 0)) return number(below, Type::kBool);
    if (op == Op::kLessEqual && (above || difference.high <= 0)) return number(!above, Type::kBool);
    if (op == Op::kEqual && (above || below)) return number(0, Type::kBool);
  }
  if (op == Op::kAnd) {
    if (a->op == Op::kNumber) return a->integer != 0 ? b : a;
    if (b->op == Op::kNumber) return b->integer != 0 ? a : b;
  }
  const bool logic = op == Op::kAnd || op == Op::kOr || op == Op::kXor;
  const Type type = compares || logic ? Type::kBool : a->type;
  // x * 1 and x + 0 are exact for every x (but -0 + 0, whose sign nobody sees).
  auto is_number = [](const Expr& e, double v) {
    return e->op == Op::kNumber && (e->type == Type::kFloat || e->type == Type::kDouble) && e->number == v;
  };
  if ((op == Op::kMul || op == Op::kDiv) && is_number(b, 1)) return a;
  if (op == Op::kMul && is_number(a, 1)) return b;
  if ((op == Op::kAdd || op == Op::kSub) && is_number(b, 0)) return a;
  if (op == Op::kAdd && is_number(a, 0)) return b;
  if (const auto known = folded(op, a, b)) return *known;
  return make({.op = op, .type = type, .args = {std::move(a), std::move(b)}});
}

Expr plus(const Expr& a, const Expr& b) {
  Sum sum;
  sum.add(a, 1);
  sum.add(b, 1);
  return position_from(std::move(sum));
}
Expr plus(const Expr& a, std::int64_t b) { return b == 0 ? a : plus(a, integer(b)); }
Expr times(const Expr& a, std::int64_t factor) {
  Sum sum;
  sum.add(a, factor);
  return position_from(std::move(sum));
}

Expr digit(const Expr& a, std::int64_t low, std::int64_t base) {
  if (base == 1) return integer(0);
  // a = low * whole + rest with 0 <= rest < low: then a / low = whole.
  auto divide = [](const Expr& e, std::int64_t by, Expr* quotient, Expr* remainder) {
    Sum whole, rest, all;
    all.add(e, 1);
    for (auto& [atom, coef] : all.terms) {
      if (coef % by == 0)
        whole.add(atom, coef / by);
      else
        rest.add(atom, coef);
    }
    whole.constant = floor_div(all.constant, by);
    rest.constant = floor_mod(all.constant, by);
    *remainder = position_from(rest);
    const Range range = range_of(*remainder);
    const std::int64_t shift = floor_div(range.low, by);
    if (floor_div(range.high, by) != shift) return false;
    whole.constant += shift;
    *remainder = plus(*remainder, -shift * by);
    *quotient = position_from(whole);
    return true;
  };
  Expr value = a, rest;
  if (low != 1 && divide(value, low, &value, &rest)) return base == 0 ? value : digit(value, 1, base);
  if (low == 1) {
    if (base == 0) return value;
    Expr quotient;
    if (divide(value, base, &quotient, &rest)) return rest;
    // Whole multiples of the base do not matter.
    if (!same(rest, value)) return digit(rest, 1, base);
  }
  if (value->op == Op::kDigit && value->base != 0 && value->base % low == 0) {
    // A digit of a digit.
    const std::int64_t kept = value->base / low, joined = base == 0 ? kept : std::min(kept, base);
    if (base == 0 || kept % base == 0 || base % kept == 0)
      return digit(value->args[0], value->integer * low, joined);
  }
  if (value->op == Op::kDigit && value->base == 0) return digit(value->args[0], value->integer * low, base);
  const Range range = range_of(value);
  if (base != 0 && range.low >= 0 && floor_div(range.high, low) < base) base = 0;
  return make({.op = Op::kDigit, .type = Type::kInt, .integer = low, .base = base, .args = {value}});
}

Expr flat_position(const Shape& view, const std::vector<Expr>& position) {
  Sum sum;
  std::int64_t stride = 1;
  for (std::size_t d = view.size(); d-- > 0; stride *= view[d]) sum.add(position[d], stride);
  return position_from(std::move(sum));
}

std::vector<Expr> unflatten(const Expr& flat, const Shape& shape) {
  std::vector<Expr> position(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d])
    position[d] = digit(flat, stride, d == 0 ? 0 : shape[d]);
  return position;
}

Expr inside(const Expr& position, std::int64_t size) {
  const Range range = range_of(position);
  Expr condition;
  if (range.low < 0) condition = binary(Op::kLessEqual, integer(0), position);
  if (range.high >= size) condition = both(condition, binary(Op::kLess, position, integer(size)));
  return condition;
}
Expr both(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? binary(Op::kAnd, a, b) : a;
}

bool is_position(const Expr& e) {
  return e->type == Type::kInt &&
         (e->op == Op::kNumber || e->op == Op::kVar || e->op == Op::kAffine || e->op == Op::kDigit);
}
bool is_constant(const Expr& e, std::int64_t* value) {
  if (e->op != Op::kNumber || e->type != Type::kInt) return false;
  *value = e->integer;
  return true;
}

Range range_of(const Expr& e) {
  switch (e->op) {
    case Op::kNumber:
      return {e->integer, e->integer};
    case Op::kVar:
      return {0, std::max<std::int64_t>(0, e->integer - 1)};
    case Op::kAffine: {
      Range sum{e->integer, e->integer};
      for (std::size_t i = 0; i < e->args.size(); ++i) {
        const Range part = range_of(e->args[i]);
        const std::int64_t a = part.low * e->coefs[i], b = part.high * e->coefs[i];
        sum.low += std::min(a, b);
        sum.high += std::max(a, b);
      }
      return sum;
    }
    case Op::kDigit: {
      const Range of = range_of(e->args[0]);
      Range result{floor_div(of.low, e->integer), floor_div(of.high, e->integer)};
      if (e->base != 0) result = {0, e->base - 1};
      return result;
    }
    default:  // an index read from memory: anything that an index can be
      return {-(std::int64_t{1} << 31), std::int64_t{1} << 31};
  }
}

std::int64_t coefficient(const Expr& position, std::string_view variable, bool* linear) {
  if (position->op == Op::kVar) return position->name == variable ? 1 : 0;
  if (position->op == Op::kAffine) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < position->args.size(); ++i) {
      if (position->args[i]->op == Op::kVar)
        total += position->args[i]->name == variable ? position->coefs[i] : 0;
      else if (uses(position->args[i], variable))
        *linear = false;
    }
    return total;
  }
  if (uses(position, variable)) *linear = false;
  return 0;
}

bool same(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (!a || !b || a->op != b->op || a->type != b->type || a->integer != b->integer || a->base != b->base ||
      a->name != b->name || a->coefs != b->coefs || a->args.size() != b->args.size())
    return false;
  if (a->op == Op::kNumber && a->number != b->number && !(std::isnan(a->number) && std::isnan(b->number)))
    return false;
  if ((a->op == Op::kCast || a->op == Op::kLoad) && a->dtype != b->dtype) return false;
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i])) return false;
  return true;
}

namespace {
// Expressions share their parts; each part is looked at once.
void visit_once(const Expr& e, const std::function<void(const ExprNode&)>& fn,
                std::set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return;
  fn(*e);
  for (const Expr& arg : e->args) visit_once(arg, fn, seen);
}
}  // namespace

void visit(const Expr& e, const std::function<void(const ExprNode&)>& fn) {
  if (e->args.empty()) return fn(*e);
  std::set<const ExprNode*> seen;
  visit_once(e, fn, seen);
}

bool uses(const Expr& e, std::string_view variable) {
  if (e->op == Op::kVar) return e->name == variable;
  bool found = false;
  visit(e, [&](const ExprNode& node) { found |= node.op == Op::kVar && node.name == variable; });
  return found;
}
std::set<std::string> variables_of(const Expr& e) {
  std::set<std::string> found;
  visit(e, [&](const ExprNode& node) {
    if (node.op == Op::kVar) found.insert(node.name);
  });
  return found;
}
std::set<std::string> tensors_of(const Expr& e) {
  std::set<std::string> found;
  visit(e, [&](const ExprNode& node) {
    if (node.op == Op::kLoad) found.insert(node.name);
  });
  return found;
}

namespace {
Expr rebuilt(const Expr& e, std::vector<Expr> args);

// What is shared stays shared.
Expr rewrite_once(const Expr& e, const std::function<Expr(const Expr&)>& fn,
                  std::map<const ExprNode*, Expr>& done) {
  if (const auto found = done.find(e.get()); found != done.end()) return found->second;
  Expr result = fn(e);
  if (!result && e->args.empty()) result = e;
  if (!result) {
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& arg : e->args) {
      args.push_back(rewrite_once(arg, fn, done));
      changed |= args.back() != arg;
    }
    result = changed ? rebuilt(e, std::move(args)) : e;
  }
  done[e.get()] = result;
  return result;
}

Expr rebuilt(const Expr& e, std::vector<Expr> args) {
  switch (e->op) {
    case Op::kAffine: {
      Sum sum;
      sum.constant = e->integer;
      for (std::size_t i = 0; i < args.size(); ++i) sum.add(args[i], e->coefs[i]);
      return position_from(std::move(sum));
    }
    case Op::kDigit:
      return digit(args[0], e->integer, e->base);
    case Op::kGuard:
      return guard(args[0], args[1], args[2]);
    case Op::kSelect:
      return select(args[0], args[1], args[2]);
    case Op::kLoad:
    case Op::kCast:
      break;
    default:
      if (args.size() == 2) return binary(e->op, args[0], args[1]);
  }
  ExprNode node = *e;
  node.args = std::move(args);
  return make(std::move(node));
}
}  // namespace

Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& fn) {
  std::map<const ExprNode*, Expr> done;
  return rewrite_once(e, fn, done);
}

Expr substitute(const Expr& e, const std::map<std::string, Expr>& variables) {
  return rewrite(e, [&](const Expr& node) -> Expr {
    if (node->op != Op::kVar) return nullptr;
    const auto found = variables.find(node->name);
    return found == variables.end() ? node : found->second;
  });
}

double cost_of(const Expr& e) {
  double cost = 0;
  visit(e, [&](const ExprNode& node) { cost += row_of(node.op).cost; });
  return cost;
}
bool has_function(const Expr& e) {
  bool found = false;
  visit(e, [&](const ExprNode& node) { found |= row_of(node.op).cost > 10; });
  return found;
}

std::string print(const Expr& e) {
  switch (e->op) {
    case Op::kNumber:
      return e->type == Type::kInt || e->type == Type::kBool ? fmt::format("{}", e->integer)
                                                             : fmt::format("{}", e->number);
    case Op::kVar:
      return e->name;
    case Op::kAffine: {
      std::string text;
      for (std::size_t i = 0; i < e->args.size(); ++i) {
        const std::int64_t c = e->coefs[i];
        text += i == 0 ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
        if (std::abs(c) != 1) text += fmt::format("{}*", std::abs(c));
        text += print(e->args[i]);
      }
      if (e->integer != 0) text += fmt::format(" {} {}", e->integer < 0 ? "-" : "+", std::abs(e->integer));
      return text;
    }
    case Op::kDigit: {
      std::string text = e->args[0]->op == Op::kVar ? print(e->args[0]) : "(" + print(e->args[0]) + ")";
      if (e->integer != 1) text += fmt::format("/{}", e->integer);
      if (e->base != 0) text += fmt::format("%{}", e->base);
      return text;
    }
    case Op::kLoad: {
      std::string text = e->name + "[";
      for (std::size_t i = 0; i < e->args.size(); ++i) text += (i ? ", " : "") + print(e->args[i]);
      return text + "]";
    }
    case Op::kCast:
      return fmt::format("{}({})", name_of(e->dtype), print(e->args[0]));
    case Op::kAdd:
      return fmt::format("({} + {})", print(e->args[0]), print(e->args[1]));
    case Op::kSub:
      return fmt::format("({} - {})", print(e->args[0]), print(e->args[1]));
    case Op::kMul:
      return fmt::format("{} * {}", print(e->args[0]), print(e->args[1]));
    case Op::kDiv:
      return fmt::format("{} / {}", print(e->args[0]), print(e->args[1]));
    case Op::kLess:
      return fmt::format("{} < {}", print(e->args[0]), print(e->args[1]));
    case Op::kLessEqual:
      return fmt::format("{} <= {}", print(e->args[0]), print(e->args[1]));
    case Op::kEqual:
      return fmt::format("{} == {}", print(e->args[0]), print(e->args[1]));
    case Op::kAnd:
      return fmt::format("{} && {}", print(e->args[0]), print(e->args[1]));
    case Op::kSelect:
    case Op::kGuard:
      return fmt::format("({} ? {} : {})", print(e->args[0]), print(e->args[1]), print(e->args[2]));
    default: {
      std::string text = std::string(name_of(e->op)) + "(";
      for (std::size_t i = 0; i < e->args.size(); ++i) text += (i ? ", " : "") + print(e->args[i]);
      return text + ")";
    }
  }
}

}  // namespace kforge::smith
