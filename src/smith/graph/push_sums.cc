#include "smith/graph/push_sums.h"

#include <algorithm>
#include <optional>

#include "smith/graph/passes.h"

namespace kforge::smith {
namespace {

using Where = TensorInfo::Where;

// e = factor * load + rest, with one and the same load of a tensor; null stands for one and for zero.
struct Linear {
  Expr load, factor, rest;
};

Expr product_of(const Expr& a, const Expr& b) { return !a ? b : !b ? a : binary(Op::kMul, a, b); }
Expr sum_of(const Expr& a, const Expr& b) { return !a ? b : !b ? a : binary(Op::kAdd, a, b); }

bool reads(const Expr& e, const std::string& tensor) { return tensors_of(e).contains(tensor); }

std::optional<Linear> linear_in(const Expr& e, const std::string& tensor) {
  if (!reads(e, tensor)) return Linear{nullptr, nullptr, e};
  if (e->op == Op::kLoad)
    return e->name == tensor ? std::optional(Linear{e, nullptr, nullptr}) : std::nullopt;
  switch (e->op) {
    case Op::kAdd:
    case Op::kSub: {
      auto a = linear_in(e->args[0], tensor), b = linear_in(e->args[1], tensor);
      if (!a || !b || (a->load && b->load)) return std::nullopt;  // two loads: not worth the trouble
      if (e->op == Op::kSub) {
        const Expr minus = number(-1, e->type);
        if (b->load) b->factor = product_of(minus, b->factor);
        if (b->rest) b->rest = unary(Op::kNeg, b->rest);
      }
      return Linear{a->load ? a->load : b->load, a->load ? a->factor : b->factor, sum_of(a->rest, b->rest)};
    }
    case Op::kNeg: {
      auto a = linear_in(e->args[0], tensor);
      if (!a) return std::nullopt;
      return Linear{a->load, product_of(number(-1, e->type), a->factor),
                    a->rest ? unary(Op::kNeg, a->rest) : nullptr};
    }
    case Op::kMul: {
      const bool left = reads(e->args[0], tensor);
      if (left && reads(e->args[1], tensor)) return std::nullopt;
      auto a = linear_in(e->args[left ? 0 : 1], tensor);
      const Expr& by = e->args[left ? 1 : 0];
      if (!a) return std::nullopt;
      return Linear{a->load, product_of(a->factor, by), a->rest ? binary(Op::kMul, a->rest, by) : nullptr};
    }
    case Op::kDiv: {
      if (reads(e->args[1], tensor)) return std::nullopt;
      auto a = linear_in(e->args[0], tensor);
      if (!a) return std::nullopt;
      const Expr one = a->factor ? a->factor : number(1, e->type);
      return Linear{a->load, binary(Op::kDiv, one, e->args[1]),
                    a->rest ? binary(Op::kDiv, a->rest, e->args[1]) : nullptr};
    }
    case Op::kCast: {  // sums are taken in a wider type than the product has
      auto a = linear_in(e->args[0], tensor);
      if (!a || e->type != Type::kDouble) return std::nullopt;
      if (a->factor) a->factor = cast(a->factor, DType::kFloat64);
      if (a->rest) a->rest = cast(a->rest, DType::kFloat64);
      return a;
    }
    default:
      return std::nullopt;
  }
}

bool uses_any(const Expr& e, const std::vector<Expr>& variables) {
  return e && std::ranges::any_of(variables, [&](const Expr& v) { return uses(e, v->name); });
}

std::int64_t extent_of(const std::vector<Expr>& variables) {
  std::int64_t n = 1;
  for (const Expr& v : variables) n *= v->integer;
  return n;
}

class PushSums {
 public:
  explicit PushSums(Program program) : program_(std::move(program)) {}

  Program run() {
    for (std::size_t i = 0; i < program_.stages.size(); ++i) push(i);
    return program_.algebra.empty() ? std::move(program_) : prune(std::move(program_));
  }

 private:
  // The product whose only reader is this stage, or null.
  const Stage* product_read_by(const Stage& sum) const {
    for (const Stage& stage : program_.stages) {
      if (&stage == &sum || !stage.node || stage.native || stage.combine != Combine::kSum) continue;
      if (!reads(sum.body, stage.tensor) || program_.tensor(stage.tensor).where != Where::kTemporary)
        continue;
      const auto readers = std::ranges::count_if(program_.stages, [&](const Stage& other) {
        if (other.native) return std::ranges::count(other.native->reads, stage.tensor) > 0;
        return other.body && reads(other.body, stage.tensor);
      });
      if (readers == 1 && stage.body->op == Op::kMul && stage.body->type == Type::kFloat) return &stage;
    }
    return nullptr;
  }

  std::string new_tensor(const std::string& hint, DType dtype, const Shape& shape) {
    std::string name = hint;
    for (int i = 2; program_.tensors.contains(name); ++i) name = hint + "_" + std::to_string(i);
    program_.tensors[name] = {name, dtype, shape, Where::kTemporary, {}, nullptr};
    return name;
  }

  // New names for the variables of a stage made from another one's.
  static void rename(Stage& stage, const std::string& suffix) {
    std::map<std::string, Expr> names;
    for (auto* list : {&stage.dims, &stage.reduced})
      for (Expr& v : *list) {
        const Expr renamed = variable(v->name + suffix, v->integer);
        names[v->name] = renamed;
        v = renamed;
      }
    stage.body = substitute(stage.body, names);
  }

  static Shape shape_of(const std::vector<Expr>& variables) {
    Shape shape;
    for (const Expr& v : variables) shape.push_back(v->integer);
    return shape;
  }

  // The sum of `body` over `reduced`, for every value of `dims`; added in double, kept as float.
  Expr summed(std::vector<Stage>& before, const std::string& hint, const std::vector<Expr>& dims,
              const std::vector<Expr>& reduced, const Expr& body, const std::string& label) {
    const Shape shape = shape_of(dims);
    Stage wide{.tensor = new_tensor(hint + "_total", DType::kFloat64, shape),
               .view = shape,
               .dims = dims,
               .combine = Combine::kSum};
    wide.reduced = reduced;
    wide.body = body->type == Type::kDouble ? body : cast(body, DType::kFloat64);
    wide.label = label;
    Stage narrow{.tensor = new_tensor(hint, DType::kFloat32, shape), .view = shape, .dims = dims};
    narrow.body = cast(load(wide.tensor, DType::kFloat64, shape, dims), DType::kFloat32);
    narrow.label = label;
    const Expr result = load(narrow.tensor, DType::kFloat32, shape, dims);
    rename(wide, "_w");
    rename(narrow, "_n");
    before.push_back(std::move(wide));
    before.push_back(std::move(narrow));
    return result;
  }

  bool only_params(const Expr& e) const {
    return std::ranges::all_of(tensors_of(e), [&](const std::string& name) {
      const Where where = program_.tensor(name).where;
      return where == Where::kParam || where == Where::kConstant;
    });
  }

  void push(std::size_t at) {
    const Stage sum = program_.stages[at];
    if (sum.native || sum.combine != Combine::kSum || sum.scan_axis >= 0 || sum.node || sum.reduced.empty())
      return;
    const Stage* found = product_read_by(sum);
    if (!found) return;
    const Stage product = *found;
    auto parts = linear_in(sum.body, product.tensor);
    if (!parts || !parts->load) return;
    // The product's body as seen from the sum.
    const auto place = unflatten(flat_position(parts->load->coefs, parts->load->args), product.view);
    std::map<std::string, Expr> seen;
    for (std::size_t d = 0; d < product.dims.size(); ++d) seen[product.dims[d]->name] = place[d];
    const Expr body = substitute(product.body, seen);
    Expr kept = body->args[0], pushed = body->args[1];
    if (uses_any(kept, sum.reduced)) std::swap(kept, pushed);
    if (uses_any(kept, sum.reduced) || !uses_any(pushed, sum.reduced)) return;
    // A factor that changes along the sum goes with it; one that changes along the results stays outside.
    const bool inner_factor = uses_any(parts->factor, sum.reduced);
    if (inner_factor && uses_any(parts->factor, sum.dims)) return;
    std::vector<Expr> along;  // results that the pushed operand depends on
    for (const Expr& v : sum.dims)
      if (uses(pushed, v->name)) along.push_back(v);
    const double depth = static_cast<double>(extent_of(product.reduced)),
                 summed_over = extent_of(sum.reduced), results = extent_of(sum.dims),
                 columns = extent_of(along);
    // A product of matrices does a dozen times the work of a plain loop in the same time; what depends on
    // params alone is computed before the first call.
    constexpr double kPlainLoop = 12, kSmallProduct = 3;
    const double operand_cost = only_params(pushed) ? 0 : kPlainLoop * columns * summed_over * depth;
    const double product_cost = (columns >= 8 ? 1 : kSmallProduct) * results * depth;
    if (operand_cost + product_cost > 0.75 * results * summed_over * depth) return;

    std::vector<Stage> before;
    std::vector<Expr> operand_dims = along;
    operand_dims.insert(operand_dims.end(), product.reduced.begin(), product.reduced.end());
    const Expr operand =
        summed(before, product.tensor + "_operand", operand_dims, sum.reduced,
               inner_factor
                   ? product_of(pushed->type == parts->factor->type ? pushed : cast(pushed, DType::kFloat64),
                                parts->factor)
                   : pushed,
               sum.label + " moved to the operand");
    Stage smaller{.tensor = new_tensor(product.tensor + "_summed", DType::kFloat32, sum.view),
                  .view = sum.view,
                  .dims = sum.dims,
                  .combine = Combine::kSum};
    smaller.reduced = product.reduced;
    smaller.body = binary(Op::kMul, kept, operand);
    smaller.label = product.label;
    if (columns >= 8) smaller.node = product.node;  // still a matrix product
    Expr result = load(smaller.tensor, DType::kFloat32, sum.view, sum.dims);
    rename(smaller, "_s");
    const Type type = sum.body->type;
    auto typed = [&](const Expr& e) {
      return type == Type::kDouble && e->type != type ? cast(e, DType::kFloat64) : e;
    };
    result = typed(result);
    if (!inner_factor && parts->factor) result = binary(Op::kMul, result, typed(parts->factor));
    if (parts->rest) {
      std::vector<Expr> rest_dims;
      for (const Expr& v : sum.dims)
        if (uses(parts->rest, v->name)) rest_dims.push_back(v);
      result = binary(Op::kAdd, result,
                      typed(summed(before, product.tensor + "_terms", rest_dims, sum.reduced, parts->rest,
                                   sum.label + " of the terms beside the product")));
    }
    Stage last = sum;
    last.combine = Combine::kNone;
    last.reduced.clear();
    last.body = result;
    before.push_back(std::move(smaller));
    before.push_back(std::move(last));
    program_.algebra.push_back(
        fmt::format("the sum {} is taken of an operand of {} instead of its result: {:.3g} "
                    "products instead of {:.3g}",
                    sum.label, product.label, results * depth, results * summed_over * depth));
    program_.stages.erase(program_.stages.begin() + static_cast<std::ptrdiff_t>(at));
    program_.stages.insert(program_.stages.begin() + static_cast<std::ptrdiff_t>(at), before.begin(),
                           before.end());
  }

  Program program_;
};

}  // namespace

Program push_sums(Program program) { return PushSums(std::move(program)).run(); }

}  // namespace kforge::smith
