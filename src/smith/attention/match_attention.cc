// Finds attention among the stages: the chain that Softmax between two matrix products is lowered to.
//
//   scores  = sum over depth of q * k
//   [terms  = f(scores)]                      only where f is too dear to be done twice
//   largest = max over keys of f(scores)
//   exp     = exp(f(scores) - largest)
//   sum     = sum over keys of exp
//   scale   = 1 / sum
//   weights = exp * scale
//   y       = sum over keys of weights * v
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "smith/attention/attention.h"
#include "smith/emit/cpp_expr.h"

namespace kforge::smith {
namespace {

using Dims = std::vector<Expr>;

// A dimension of one is always at 0.
Expr settled(const Expr& e) {
  return rewrite(e, [](const Expr& node) -> Expr {
    return node->op == Op::kVar && node->integer == 1 ? integer(0) : nullptr;
  });
}

// Masked scores are at most this: exp of their distance to any finite score that counts is 0.
constexpr double kMasked = -1e29;

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program) {
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
      const Stage& stage = program.stages[i];
      if (stage.native) {
        for (const std::string& name : stage.native->reads) readers_[name].insert(i);
        for (const std::string& name : stage.native->writes) readers_[name].insert(i);
        continue;
      }
      writer_[stage.tensor] = i;
      for (const std::string& name : tensors_of(stage.body)) readers_[name].insert(i);
    }
  }

  // The attention whose last product is stage `last`; `gone` becomes the stages it replaces.
  std::optional<MatchedAttention> find(std::size_t last, std::set<std::size_t>& gone) {
    const Stage& product = program_.stages[last];
    const auto outer = factors(product);
    if (!outer || product.dims.size() < 2) return {};
    const Expr weights = outer->first, v = outer->second, key = product.reduced[0];
    Dims row(product.dims.begin(), product.dims.end() - 1), whole = row;
    whole.push_back(key);
    if (!at(weights, whole)) return {};
    // weights = exp * scale
    const Stage* left = only_reader(weights->name, {last});
    if (!left || left->combine != Combine::kNone || left->body->op != Op::kMul) return {};
    const Expr exponential = left->body->args[0], scale = left->body->args[1];
    if (!at(exponential, left->dims) || !at(scale, without_last(left->dims))) return {};
    const std::size_t left_at = writer_.at(weights->name);
    // scale = 1 / sum; sum = sum of exp
    const Stage* inverse = only_reader(scale->name, {left_at});
    if (!inverse || inverse->combine != Combine::kNone || inverse->body->op != Op::kDiv ||
        inverse->body->args[0]->op != Op::kNumber || inverse->body->args[0]->number != 1 ||
        !at(inverse->body->args[1], inverse->dims))
      return {};
    const Expr sum = inverse->body->args[1];
    const Stage* sums = only_reader(sum->name, {writer_.at(scale->name)});
    if (!sums || sums->combine != Combine::kSum || sums->reduced.size() != 1 ||
        sums->body->name != exponential->name || !at(sums->body, joined(*sums)))
      return {};
    // exp = exp(min(score - largest, 0))
    const Stage* exps = only_reader(exponential->name, {writer_.at(sum->name), left_at});
    if (!exps || exps->combine != Combine::kNone || exps->body->op != Op::kExp ||
        exps->body->args[0]->op != Op::kMin || exps->body->args[0]->args[0]->op != Op::kSub)
      return {};
    const Expr difference = exps->body->args[0]->args[0];
    const Expr score = difference->args[0], largest = difference->args[1];
    if (!at(largest, without_last(exps->dims))) return {};
    const std::size_t exps_at = writer_.at(exponential->name);
    const Stage* most = only_reader(largest->name, {exps_at});
    if (!most || most->combine != Combine::kMax || most->reduced.size() != 1) return {};
    if (!same(settled(substitute(most->body, renaming(joined(*most), exps->dims))), settled(score)))
      return {};
    gone = {left_at, writer_.at(scale->name), writer_.at(sum->name), exps_at, writer_.at(largest->name)};
    return scored(product, v, score, exps->dims, {writer_.at(largest->name), exps_at}, gone);
  }

 private:
  // The score leads back to the first product.
  std::optional<MatchedAttention> scored(const Stage& product, const Expr& v, Expr score, const Dims& dims,
                                         const std::set<std::size_t>& users, std::set<std::size_t>& gone) {
    // Terms that were stored because they are read twice are computed in place here.
    if (score->op == Op::kLoad && at(score, dims)) {
      const Stage* terms = only_reader(score->name, users);
      if (terms && terms->combine == Combine::kNone && terms->scan_axis < 0) {
        const std::size_t terms_at = writer_.at(score->name);
        gone.insert(terms_at);
        const Expr inner = substitute(terms->body, renaming(terms->dims, dims));
        return scored(product, v, inner, dims, {terms_at}, gone);
      }
    }
    for (const std::string& name : tensors_of(score)) {
      const Stage* first = only_reader(name, users);
      const auto inner = first ? factors(*first) : std::nullopt;
      if (!inner || first->dims.size() != dims.size() || first->dims.size() != product.dims.size()) continue;
      bool everywhere = true;
      visit(score, [&](const ExprNode& node) {
        if (node.op == Op::kLoad && node.name == name)
          everywhere &=
              same(settled(flat_position(node.coefs, node.args)), settled(flat_position(first->view, dims)));
      });
      for (std::size_t d = 0; d + 1 < dims.size(); ++d)
        everywhere &= first->view[d] == product.view[d] && dims[d]->integer == first->view[d];
      if (!everywhere) continue;
      gone.insert(writer_.at(name));
      return matched(product, v, *first, *inner, score, dims, name);
    }
    return {};
  }

  std::optional<MatchedAttention> matched(const Stage& product, const Expr& v, const Stage& first,
                                          const std::pair<Expr, Expr>& inner, const Expr& score,
                                          const Dims& dims, const std::string& sums) {
    MatchedAttention matched;
    Attention& a = matched.attention;
    a.tensor = product.tensor;
    a.label = product.label;
    const std::size_t rank = product.dims.size();
    for (std::size_t d = 0; d + 2 < rank; ++d) a.batch *= static_cast<long>(product.view[d]);
    a.queries = static_cast<long>(product.view[rank - 2]);
    a.width = static_cast<long>(product.view[rank - 1]);
    a.keys = static_cast<long>(first.view[rank - 1]);
    a.depth = static_cast<long>(first.reduced[0]->integer);
    if (a.depth > 256 || a.width > 1024 || product.reduced[0]->integer != a.keys) return {};
    const Expr query = first.dims[rank - 2], key = first.dims[rank - 1], depth = first.reduced[0];
    auto q = operand(inner.first, first.dims, query, depth, {key}),
         k = operand(inner.second, first.dims, key, depth, {query}),
         values =
             operand(v, product.dims, product.reduced[0], product.dims[rank - 1], {product.dims[rank - 2]}),
         y = operand(load(product.tensor, DType::kFloat32, product.view, product.dims), product.dims,
                     product.dims[rank - 2], product.dims[rank - 1], {});
    if (!q || !k || !values || !y || values->column != 1 || y->column != 1) return {};
    a.q = *q, a.k = *k, a.v = *values, a.y = *y;
    // The score in terms of the kernel's own variables.
    std::map<std::string, Expr> names = batch_digits(dims);
    names[dims[rank - 2]->name] = variable("query", a.queries);
    names[dims[rank - 1]->name] = plus(variable("first", a.keys), variable("column", a.keys));
    a.causal = causal_limit(score, dims[rank - 2], dims[rank - 1]);
    const Expr of_sum = rewrite(score, [&](const Expr& node) -> Expr {
      if (node->op != Op::kLoad || node->name != sums) return nullptr;
      return load("sum_at", DType::kFloat32, {a.keys}, {variable("column", a.keys)});
    });
    a.score = substitute(of_sum, names);
    const std::set<std::string> known{"batch", "query", "first", "column"};
    for (const std::string& name : variables_of(a.score))
      if (!known.contains(name)) return {};
    CppScope scope;
    if (a.score->type != Type::kFloat || !has_lanes(scope, a.score, "column")) return {};
    for (const std::string& name : tensors_of(a.score))
      if (name != "sum_at") a.reads.push_back(name);
    std::set<std::string> touched(a.reads.begin(), a.reads.end());
    touched.insert({a.q.tensor, a.k.tensor, a.v.tensor, a.tensor});
    for (const std::string& name : touched) matched.tensors[name] = program_.tensor(name);
    return matched;
  }

  std::map<std::string, Expr> batch_digits(const Dims& dims) const {
    std::int64_t count = 1, below = 1;
    for (std::size_t d = 0; d + 2 < dims.size(); ++d) count *= dims[d]->integer;
    const Expr batch = variable("batch", count);
    std::map<std::string, Expr> names;
    for (std::size_t d = dims.size() - 2; d-- > 0;) {
      const std::int64_t extent = dims[d]->integer;
      names[dims[d]->name] = digit(batch, below, below * extent == count ? 0 : extent);
      below *= extent;
    }
    return names;
  }

  std::optional<AttentionOperand> operand(const Expr& from, const Dims& dims, const Expr& row,
                                          const Expr& column, const Dims& absent) const {
    AttentionOperand o;
    o.tensor = from->name;
    const Expr flat = flat_position(from->coefs, from->args);
    if (!is_position(flat)) return {};
    bool linear = true;
    o.row = static_cast<long>(coefficient(flat, row->name, &linear));
    o.column = static_cast<long>(coefficient(flat, column->name, &linear));
    for (const Expr& v : absent) linear &= !uses(flat, v->name);
    if (!linear) return {};
    std::map<std::string, Expr> names = batch_digits(dims);
    names[row->name] = names[column->name] = integer(0);
    o.base = substitute(flat, names);
    for (const std::string& name : variables_of(o.base))
      if (name != "batch") return {};
    return o;
  }

  // `query + limit <= key ? far below : 0` added to the score, or the same choosing between it and the score.
  static long causal_limit(const Expr& score, const Expr& query, const Expr& key) {
    auto masks = [&](const Expr& e) -> long {
      if (e->op != Op::kSelect && e->op != Op::kGuard) return 0;
      const Expr& condition = e->args[0];
      if (e->args[1]->op != Op::kNumber || e->args[1]->number > kMasked) return 0;
      if (condition->op != Op::kLess && condition->op != Op::kLessEqual) return 0;
      if (!is_position(condition->args[0]) || !is_position(condition->args[1])) return 0;
      // key - query >= limit
      const Expr distance = plus(condition->args[1], times(condition->args[0], -1));
      const Expr apart = plus(distance, plus(query, times(key, -1)));
      std::int64_t constant = 0;
      if (!is_constant(apart, &constant)) return 0;
      const std::int64_t limit = -constant + (condition->op == Op::kLess ? 1 : 0);
      return limit >= 1 ? static_cast<long>(limit) : 0;  // the query's own key counts: no row is all masked
    };
    if (score->op == Op::kAdd) {
      for (const Expr& term : score->args)
        if (const long limit = masks(term); limit > 0 && std::isfinite(term->args[1]->number)) return limit;
      return 0;
    }
    return masks(score);
  }

  // A sum of products of two loads of floats.
  static std::optional<std::pair<Expr, Expr>> factors(const Stage& stage) {
    if (stage.native || stage.combine != Combine::kSum || stage.scan_axis >= 0 || !stage.body ||
        stage.reduced.size() != 1 || stage.body->op != Op::kMul)
      return {};
    for (const Expr& e : stage.body->args)
      if (e->op != Op::kLoad || e->dtype != DType::kFloat32) return {};
    return std::pair(stage.body->args[0], stage.body->args[1]);
  }

  // The stage that writes a temporary which exactly these stages read.
  const Stage* only_reader(const std::string& tensor, const std::set<std::size_t>& expected) const {
    const auto writer = writer_.find(tensor);
    const auto readers = readers_.find(tensor);
    if (writer == writer_.end() || readers == readers_.end() || readers->second != expected) return nullptr;
    const TensorInfo& info = program_.tensor(tensor);
    if (info.where != TensorInfo::Where::kTemporary || info.dtype != DType::kFloat32) return nullptr;
    return &program_.stages[writer->second];
  }

  static bool at(const Expr& e, const Dims& dims) {
    if (e->op != Op::kLoad) return false;
    Shape shape;
    for (const Expr& d : dims) shape.push_back(d->integer);
    return element_count(shape) == element_count(e->coefs) &&
           same(settled(flat_position(e->coefs, e->args)), settled(flat_position(shape, dims)));
  }
  static Dims without_last(const Dims& dims) { return Dims(dims.begin(), dims.end() - 1); }
  static Dims joined(const Stage& stage) {
    Dims dims = stage.dims;
    dims.insert(dims.end(), stage.reduced.begin(), stage.reduced.end());
    return dims;
  }
  static std::map<std::string, Expr> renaming(const Dims& from, const Dims& to) {
    std::map<std::string, Expr> names;
    for (std::size_t d = 0; d < std::min(from.size(), to.size()); ++d) names[from[d]->name] = to[d];
    return names;
  }

  const Program& program_;
  std::map<std::string, std::size_t> writer_;
  std::map<std::string, std::set<std::size_t>> readers_;
};

Stage line_for(const Program& program, const MatchedAttention& matched) {
  const Attention& a = matched.attention;
  auto native = std::make_shared<NativeCode>();
  std::string call;
  for (const auto& [name, info] : matched.tensors) {
    (name == a.tensor ? native->writes : native->reads).push_back(name);
    call += (call.empty() ? "{" : ", {") + name + "}";
  }
  native->lines = fmt::format("{}_attention::work({{{}}});", a.tensor, call);
  native->parallel = true;
  Stage line;
  line.tensor = a.tensor;
  line.view = program.tensor(a.tensor).shape;
  line.native = native;
  line.label = fmt::format("{}: attention, {} x {} queries, {} keys", a.label, a.batch, a.queries, a.keys);
  return line;
}

}  // namespace

MatchedAttentions match_attention(Program program) {
  MatchedAttentions result;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    std::set<std::size_t> gone;
    auto matched = Finder(program).find(i, gone);
    if (!matched) continue;
    program.stages[i] = line_for(program, *matched);
    for (auto it = gone.rbegin(); it != gone.rend(); ++it) {
      program.tensors.erase(program.stages[*it].tensor);
      program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(*it));
    }
    result.parts.push_back(std::move(*matched));
    i -= gone.size();
  }
  result.rest = std::move(program);
  return result;
}

}  // namespace kforge::smith
