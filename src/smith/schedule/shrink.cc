// Temporaries that are written and read inside of the same loops only need what one iteration uses: a row, a
// scalar. They become locals of that loop.
#include <algorithm>
#include <functional>

#include "smith/schedule/transform.h"

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;

struct Use {
  std::vector<std::string> loops;  // around it, outermost first
  Shape view;
  std::vector<Expr> position;
};

std::map<std::string, std::vector<Use>> uses_of(const Nest& nest) {
  std::map<std::string, std::vector<Use>> found;
  std::vector<std::string> around;
  std::function<void(const Stmt&)> walk = [&](const Stmt& s) {
    auto read = [&](const Expr& e) {
      visit(e, [&](const ExprNode& x) {
        if (x.op == Op::kLoad) found[x.name].push_back({around, x.coefs, x.args});
      });
    };
    if (s->value) read(s->value);
    for (const Expr& e : s->position) read(e);
    if (s->kind == Kind::kStore || s->kind == Kind::kUpdate)
      found[s->tensor].push_back({around, s->view, s->position});
    if (s->native)
      for (const auto* list : {&s->native->reads, &s->native->writes})
        for (const std::string& name : *list) found[name].push_back({});
    if (s->kind == Kind::kFor) around.push_back(s->name);
    for (const Stmt& child : s->body) walk(child);
    if (s->kind == Kind::kFor) around.pop_back();
  };
  walk(nest.root);
  return found;
}

// position = outer + rest, outer of variables in `loops` only.
bool split_by(const Expr& position, const std::set<std::string>& loops, Expr* outer, Expr* rest) {
  if (!is_position(position)) return false;
  *outer = integer(0);
  *rest = integer(0);
  auto term = [&](const Expr& atom, std::int64_t factor) {
    bool inside = false, outside = false;
    for (const std::string& v : variables_of(atom)) (loops.contains(v) ? outside : inside) = true;
    if (inside && outside) return false;
    Expr& part = outside ? *outer : *rest;
    part = plus(part, times(atom, factor));
    return true;
  };
  if (position->op == Op::kAffine) {
    for (std::size_t i = 0; i < position->args.size(); ++i)
      if (!term(position->args[i], position->coefs[i])) return false;
    *rest = plus(*rest, position->integer);
    return true;
  }
  if (position->op == Op::kNumber) {
    *rest = position;
    return true;
  }
  return term(position, 1);
}

Nest replace_accesses(const Nest& nest, const std::string& tensor, const Shape& view,
                      const std::function<std::vector<Expr>(const Shape&, const std::vector<Expr>&)>& fn) {
  Nest result = nest;
  const DType dtype = nest.tensors.at(tensor).dtype;
  std::function<Expr(const Expr&)> in_expr = [&](const Expr& e) {
    return rewrite(e, [&](const Expr& x) -> Expr {
      if (x->op != Op::kLoad || x->name != tensor) return nullptr;
      return load(tensor, dtype, view, fn(x->coefs, x->args));
    });
  };
  std::function<Stmt(const Stmt&)> walk = [&](const Stmt& s) -> Stmt {
    StmtNode node = *s;
    for (Stmt& child : node.body) child = walk(child);
    for (Expr& e : node.position) e = in_expr(e);
    if (node.value) node.value = in_expr(node.value);
    if ((node.kind == Kind::kStore || node.kind == Kind::kUpdate) && node.tensor == tensor) {
      node.position = fn(node.view, node.position);
      node.view = view;
    }
    return std::make_shared<const StmtNode>(std::move(node));
  };
  result.root = walk(nest.root);
  return result;
}

Nest shrink_one(Nest nest, const std::string& tensor, std::vector<Use> uses, const AcceptLocal& accept) {
  std::vector<std::string> common = uses[0].loops;
  bool one_view = true;
  for (const Use& use : uses) {
    std::size_t n = 0;
    while (n < common.size() && n < use.loops.size() && common[n] == use.loops[n]) ++n;
    common.resize(n);
    one_view &= use.view == uses[0].view;
  }
  if (common.empty()) return nest;
  // A local of a vector loop would need lanes of its own.
  while (!common.empty()) {
    const Stmt at = find_loop(nest.root, common.back());
    if (at->run != Run::kVector) break;
    common.pop_back();
  }
  if (common.empty()) return nest;
  const std::set<std::string> outer_loops(common.begin(), common.end());
  const bool flat = !one_view;
  auto positions = [&](const Shape& view, const std::vector<Expr>& position) {
    return flat ? std::vector<Expr>{flat_position(view, position)} : position;
  };
  const Shape full = flat ? Shape{element_count(nest.tensors.at(tensor).shape)} : uses[0].view;
  Shape shrunk;
  std::vector<bool> can(full.size());
  for (std::size_t d = 0; d < full.size(); ++d) {
    Expr first_outer;
    std::int64_t extent = 0;
    bool good = true;
    for (const Use& use : uses) {
      Expr outer, rest;
      const auto at = positions(use.view, use.position);
      good = good && split_by(at[d], outer_loops, &outer, &rest);
      if (!good) break;
      if (!first_outer) first_outer = outer;
      const Range range = range_of(rest);
      good = same(outer, first_outer) && range.low >= 0;
      extent = std::max(extent, range.high + 1);
    }
    can[d] = good && extent <= full[d];
    shrunk.push_back(can[d] ? extent : full[d]);
  }
  if (accept) {
    TensorInfo small = nest.tensors.at(tensor);
    small.shape = shrunk;
    if (!accept(small, common.back())) return nest;
  }
  nest = replace_accesses(nest, tensor, shrunk, [&](const Shape& view, const std::vector<Expr>& position) {
    std::vector<Expr> at = positions(view, position);
    for (std::size_t d = 0; d < at.size(); ++d) {
      Expr outer, rest;
      if (can[d] && split_by(at[d], outer_loops, &outer, &rest)) at[d] = rest;
    }
    return at;
  });
  nest.tensors[tensor].shape = shrunk;
  nest.tensors[tensor].c_name = "local";
  const std::string home = common.back();
  std::function<Stmt(const Stmt&)> walk = [&](const Stmt& s) -> Stmt {
    StmtNode node = *s;
    for (Stmt& child : node.body) child = walk(child);
    if (node.kind == Kind::kFor && node.name == home) node.locals.push_back(tensor);
    return std::make_shared<const StmtNode>(std::move(node));
  };
  nest.root = walk(nest.root);
  return nest;
}

}  // namespace

Nest shrink_temporaries(const Nest& nest, const AcceptLocal& accept) {
  Nest result = nest;
  const auto written = writes_of(nest.root);
  for (const auto& [tensor, uses] : uses_of(nest)) {
    if (!written.contains(tensor)) continue;  // made in prepare()
    const auto info = nest.tensors.find(tensor);
    if (info == nest.tensors.end() || info->second.where != TensorInfo::Where::kTemporary) continue;
    result = shrink_one(std::move(result), tensor, uses, accept);
  }
  return result;
}

}  // namespace kforge::smith
