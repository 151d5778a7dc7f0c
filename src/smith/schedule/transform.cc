#include "smith/schedule/transform.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;

struct Access {
  Shape view;
  std::vector<Expr> position;
  bool write = false, update = false;
};

void accesses_in(const Stmt& s, const std::string& tensor, std::vector<Access>& found) {
  visit(s, [&](const StmtNode& node) {
    auto read = [&](const Expr& e) {
      visit(e, [&](const ExprNode& x) {
        if (x.op == Op::kLoad && x.name == tensor) found.push_back({x.coefs, x.args, false, false});
      });
    };
    if (node.value) read(node.value);
    for (const Expr& e : node.position) read(e);
    if ((node.kind == Kind::kStore || node.kind == Kind::kUpdate) && node.tensor == tensor)
      found.push_back({node.view, node.position, true, node.kind == Kind::kUpdate});
    if (node.native)
      for (const auto* list : {&node.native->reads, &node.native->writes})
        if (std::find(list->begin(), list->end(), tensor) != list->end())
          found.push_back({{}, {}, true, false});
  });
}

std::set<std::string> variables_bound_in(const std::vector<Stmt>& statements) {
  std::set<std::string> names;
  for (const Stmt& s : statements)
    for (const std::string& name : loop_names(s)) names.insert(name);
  return names;
}

// position = c * variable + outer + rest: outer has variables bound outside, rest those bound inside.
struct Split {
  std::int64_t coefficient = 0;
  Expr outer, rest;
};
bool split_position(const Expr& position, const std::string& variable, const std::set<std::string>& inner,
                    Split* out) {
  if (!is_position(position)) return false;
  bool linear = true;
  out->coefficient = coefficient(position, variable, &linear);
  if (!linear) return false;
  out->outer = integer(0);
  out->rest = integer(0);
  auto term = [&](const Expr& atom, std::int64_t factor) {
    if (atom->op == Op::kVar && atom->name == variable) return true;
    bool is_inner = false, is_outer = false;
    for (const std::string& v : variables_of(atom)) (inner.contains(v) ? is_inner : is_outer) = true;
    if (is_inner && is_outer) return false;
    Expr& part = is_inner ? out->rest : out->outer;
    part = plus(part, times(atom, factor));
    return true;
  };
  if (position->op == Op::kAffine) {
    for (std::size_t i = 0; i < position->args.size(); ++i)
      if (!term(position->args[i], position->coefs[i])) return false;
    out->outer = plus(out->outer, position->integer);
  } else if (position->op == Op::kNumber) {
    out->outer = position;
  } else if (!term(position, 1)) {
    return false;
  }
  return true;
}

bool pinned_accesses(const std::vector<Access>& accesses, const std::string& variable,
                     const std::set<std::string>& inner) {
  if (accesses.empty()) return true;
  const std::size_t rank = accesses[0].position.size();
  for (std::size_t d = 0; d < rank; ++d) {
    bool good = true;
    Split first;
    for (std::size_t i = 0; good && i < accesses.size(); ++i) {
      Split split;
      good = accesses[i].view == accesses[0].view && accesses[i].position.size() == rank &&
             split_position(accesses[i].position[d], variable, inner, &split) && split.coefficient > 0;
      if (!good) break;
      const Range rest = range_of(split.rest);
      if (i == 0) first = split;
      good = split.coefficient == first.coefficient && same(split.outer, first.outer) && rest.low >= 0 &&
             rest.high < split.coefficient;
    }
    if (good) return true;
  }
  return false;
}

// Replaces the loop; an Error where it does not exist.
Result<Nest> replace_loop(const Nest& nest, const std::string& name,
                          const std::function<Result<Stmt>(const Stmt&)>& fn) {
  Result<Stmt> replaced = fail("there is no loop '{}'", name);
  bool found = false;
  Nest result = nest;
  StmtNode root = *nest.root;
  std::vector<Stmt> body;
  for (const Stmt& child : nest.root->body) {
    Stmt now = rewrite(child, [&](const Stmt& s) -> Stmt {
      if (found || s->kind != Kind::kFor || s->name != name) return nullptr;
      found = true;
      replaced = fn(s);
      return replaced ? *replaced : s;
    });
    if (now->kind == Kind::kBlock)
      body.insert(body.end(), now->body.begin(), now->body.end());
    else
      body.push_back(now);
  }
  if (!replaced) return std::unexpected(replaced.error());
  root.body = std::move(body);
  result.root = std::make_shared<const StmtNode>(std::move(root));
  return result;
}

bool name_taken(const Nest& nest, const std::string& name) {
  return find_loop(nest.root, name) != nullptr || nest.tensors.contains(name);
}
std::string fresh(const Nest& nest, const std::string& base) {
  std::string name = base;
  for (int i = 2; name_taken(nest, name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

Result<Nest> split(const Nest& nest, const std::string& name, std::int64_t factor) {
  if (factor < 1) return fail("'{}' is split by {}", name, factor);
  const std::string outer_name = fresh(nest, name + "_o");
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->run != Run::kSerial || s->scan || s->limit || s->backwards)
      return fail("'{}' cannot be split any more", name);
    if (factor >= s->extent) return fail("'{}' has only {} iterations", name, s->extent);
    const std::int64_t outer = (s->extent + factor - 1) / factor;
    const Expr outer_var = variable(outer_name, outer), inner_var = variable(name, factor);
    const Expr position = plus(times(outer_var, factor), inner_var);
    const std::map<std::string, Expr> substitution{{name, position}};
    Stmt body = map_expressions(s->body[0], [&](const Expr& e) { return substitute(e, substitution); });
    Stmt inner = edited(s, [&](StmtNode& n) {
      n.extent = factor;
      n.body = {body};
      if (s->extent % factor != 0) n.limit = plus(times(outer_var, -factor), s->extent);
    });
    return loop(outer_name, outer, inner);
  });
}

Result<Nest> fuse(const Nest& nest, const std::string& first, const std::string& second) {
  Result<Nest> failure = fail("'{}' does not follow '{}' directly", second, first);
  Nest result = nest;
  bool done = false;
  std::string why;
  auto fuse_in = [&](const std::vector<Stmt>& body) -> std::vector<Stmt> {
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      const Stmt& a = body[i];
      if (a->kind != Kind::kFor || a->name != first) continue;
      // Single stores between the two (the start of a sum) go before the first, where it does not touch them.
      std::size_t j = i + 1;
      auto touched_by_a = writes_of(a);
      touched_by_a.merge(reads_of(a));
      for (; j < body.size() && body[j]->kind == Kind::kStore; ++j) {
        auto touched = reads_of(body[j]);
        touched.merge(writes_of(body[j]));
        if (std::any_of(touched.begin(), touched.end(),
                        [&](const std::string& t) { return touched_by_a.contains(t); }))
          break;
      }
      if (j >= body.size() || body[j]->kind != Kind::kFor || body[j]->name != second) continue;
      const Stmt& b = body[j];
      if (a->extent != b->extent || a->run != b->run || a->scan != b->scan || a->backwards != b->backwards ||
          (a->limit == nullptr) != (b->limit == nullptr) || (a->limit && !same(a->limit, b->limit))) {
        why = fmt::format("'{}' and '{}' run differently", first, second);
        return {};
      }
      const std::map<std::string, Expr> substitution{{second, a->var()}};
      const Stmt renamed =
          map_expressions(b->body[0], [&](const Expr& e) { return substitute(e, substitution); });
      auto touched = writes_of(a);
      touched.merge(writes_of(b));
      for (const std::string& tensor : touched) {
        std::vector<Access> in_a, in_b;
        accesses_in(a->body[0], tensor, in_a);
        accesses_in(renamed, tensor, in_b);
        if (in_a.empty() || in_b.empty()) continue;
        std::vector<Access> all = in_a;
        all.insert(all.end(), in_b.begin(), in_b.end());
        if (!pinned_accesses(all, first, variables_bound_in({a->body[0], renamed}))) {
          why = fmt::format("'{}' reads '{}' of other iterations of '{}'", second, tensor, first);
          return {};
        }
      }
      std::vector<Stmt> fused(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(i));
      fused.insert(fused.end(), body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                   body.begin() + static_cast<std::ptrdiff_t>(j));
      fused.push_back(with_body(a, {block({a->body[0], renamed})}));
      fused.insert(fused.end(), body.begin() + static_cast<std::ptrdiff_t>(j) + 1, body.end());
      done = true;
      return fused;
    }
    return {};
  };
  std::function<Stmt(const Stmt&)> walk = [&](const Stmt& s) -> Stmt {
    if (done || !why.empty()) return s;
    if (s->kind == Kind::kBlock) {
      auto fused = fuse_in(s->body);
      if (done) {
        StmtNode node = *s;
        node.body = std::move(fused);
        return s == nest.root || node.body.size() > 1 ? std::make_shared<const StmtNode>(std::move(node))
                                                      : node.body[0];
      }
    }
    StmtNode node = *s;
    for (Stmt& child : node.body) child = walk(child);
    return std::make_shared<const StmtNode>(std::move(node));
  };
  result.root = walk(nest.root);
  if (!why.empty()) return fail("{}", why);
  if (!done) return failure;
  return result;
}

Result<Nest> distribute(const Nest& nest, const std::string& name) {
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->body[0]->kind != Kind::kBlock) return fail("'{}' has one statement", name);
    if (s->run != Run::kSerial || s->scan) return fail("'{}' cannot be distributed any more", name);
    for (const std::string& tensor : writes_of(s)) {
      int used = 0;
      for (const Stmt& child : s->body[0]->body) {
        std::vector<Access> found;
        accesses_in(child, tensor, found);
        used += !found.empty();
      }
      if (used > 1 && !pinned(s->body[0]->body, tensor, name))
        return fail("'{}' carries '{}' from statement to statement", name, tensor);
    }
    std::vector<Stmt> loops;
    for (const Stmt& child : s->body[0]->body) {
      const std::string own = loops.empty() ? name : fresh(nest, fmt::format("{}_{}", name, loops.size()));
      const std::map<std::string, Expr> substitution{{name, variable(own, s->extent)}};
      Stmt body = map_expressions(child, [&](const Expr& e) { return substitute(e, substitution); });
      loops.push_back(edited(s, [&](StmtNode& n) {
        n.name = own;
        n.body = {body};
      }));
    }
    return block(loops);
  });
}

Result<Nest> reorder(const Nest& nest, const std::string& outer, const std::string& inner) {
  return replace_loop(nest, outer, [&](const Stmt& s) -> Result<Stmt> {
    const Stmt in = s->body[0];
    if (in->kind != Kind::kFor || in->name != inner)
      return fail("'{}' is not directly inside of '{}'", inner, outer);
    if (in->limit && uses(in->limit, outer)) return fail("the end of '{}' depends on '{}'", inner, outer);
    if (s->run != Run::kSerial || in->run != Run::kSerial)
      return fail("'{}' and '{}' are scheduled already", outer, inner);
    for (const std::string& tensor : writes_of(in)) {
      std::vector<Access> found;
      accesses_in(in->body[0], tensor, found);
      const bool only_updates =
          std::all_of(found.begin(), found.end(), [](const Access& a) { return a.update; });
      if (only_updates && !s->scan && !in->scan) continue;
      if (!pinned({in->body[0]}, tensor, outer) && !pinned({in->body[0]}, tensor, inner))
        return fail("'{}' depends on the order of '{}' and '{}'", tensor, outer, inner);
      if ((s->scan || in->scan) && !pinned({in->body[0]}, tensor, s->scan ? inner : outer) &&
          !pinned({in->body[0]}, tensor, s->scan ? outer : inner))
        return fail("'{}' is a running result", tensor);
    }
    return with_body(in, {with_body(s, {in->body[0]})});
  });
}

// The first thing that happens to a tensor in an iteration is that it is written.
bool written_first(const Stmt& s, const std::string& tensor) {
  bool decided = false, result = false;
  std::function<void(const Stmt&)> walk = [&](const Stmt& at) {
    if (decided) return;
    auto reads = [&](const Expr& e) { return e && tensors_of(e).contains(tensor); };
    if (at->kind == Kind::kStore || at->kind == Kind::kUpdate) {
      bool read = reads(at->value) || (at->kind == Kind::kUpdate && at->tensor == tensor);
      for (const Expr& e : at->position) read |= reads(e);
      if (read || at->tensor == tensor) {
        decided = true;
        result = !read;
      }
    }
    for (const Stmt& child : at->body) walk(child);
  };
  walk(s);
  return result;
}

// Iterations may run in any order and at once.
Result<> independent(const Nest& nest, const Stmt& s) {
  if (s->scan) return fail("iterations of '{}' depend on each other", s->name);
  for (const std::string& tensor : writes_of(s)) {
    if (pinned({s->body[0]}, tensor, s->name)) continue;
    std::vector<Access> everywhere, here;
    accesses_in(nest.root, tensor, everywhere);
    accesses_in(s->body[0], tensor, here);
    const bool is_private = nest.tensors.at(tensor).where == TensorInfo::Where::kTemporary &&
                            everywhere.size() == here.size() && written_first(s->body[0], tensor);
    if (!is_private) return fail("iterations of '{}' meet in '{}'", s->name, tensor);
  }
  return {};
}

Result<Nest> parallelize(const Nest& nest, const std::vector<std::string>& names) {
  Result<Nest> result = nest;
  for (const std::string& name : names) {
    result = replace_loop(*result, name, [&](const Stmt& s) -> Result<Stmt> {
      bool below = false, native = false;
      visit(s->body[0], [&](const StmtNode& n) {
        below |= n.run == Run::kParallel && std::find(names.begin(), names.end(), n.name) == names.end();
        native |= n.native != nullptr;
      });
      if (below || native) return fail("'{}' has threads of its own inside", name);
      if (s->run != Run::kSerial || s->limit || s->backwards) return fail("'{}' is scheduled already", name);
      KF_TRY_VOID(independent(*result, s));
      return edited(s, [](StmtNode& n) { n.run = Run::kParallel; });
    });
    if (!result) return result;
  }
  // Several loops are shared as one only where they are nested directly.
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const Stmt s = find_loop(result->root, names[i]);
    if (s->body[0]->kind != Kind::kFor || s->body[0]->name != names[i + 1])
      return fail("'{}' is not directly inside of '{}'", names[i + 1], names[i]);
  }
  for (const Stmt& top : result->root->body)
    if (find_loop(top, names[0]) && (top->kind != Kind::kFor || top->name != names[0]))
      return fail("'{}' is not an outermost loop", names[0]);
  return result;
}

Result<Nest> vectorize(const Nest& nest, const std::string& name, std::int64_t unroll) {
  if (unroll < 1 || unroll > 16) return fail("{} vectors at a time", unroll);
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->run != Run::kSerial || s->backwards) return fail("'{}' is scheduled already", name);
    bool nested = false;
    visit(s->body[0], [&](const StmtNode& n) {
      nested |= n.kind == Kind::kFor && (n.run == Run::kVector || n.run == Run::kParallel || n.scan ||
                                         (n.limit && uses(n.limit, name)));
      nested |= n.native != nullptr;
    });
    if (nested) return fail("'{}' contains a loop that cannot run in lanes", name);
    if (s->scan) {
      // One state, one store: lanes are combined by shifting.
      if (s->body[0]->kind != Kind::kBlock || s->body[0]->body.size() != 2)
        return fail("'{}' is no plain running sum", name);
      for (const Stmt& child : s->body[0]->body)
        if (child->kind != Kind::kStore && child->kind != Kind::kUpdate)
          return fail("'{}' is no plain running sum", name);
      return edited(s, [&](StmtNode& n) {
        n.run = Run::kVector;
        n.unroll = 1;
      });
    }
    for (const std::string& tensor : writes_of(s)) {
      std::vector<Access> found;
      accesses_in(s->body[0], tensor, found);
      if (pinned({s->body[0]}, tensor, name)) continue;
      for (const Access& access : found) {
        if (!access.update) return fail("lanes of '{}' meet in '{}'", name, tensor);
        for (const Expr& e : access.position)
          if (uses(e, name)) return fail("lanes of '{}' meet in '{}'", name, tensor);
      }
    }
    return edited(s, [&](StmtNode& n) {
      n.run = Run::kVector;
      n.unroll = static_cast<int>(unroll);
    });
  });
}

Result<Nest> unroll(const Nest& nest, const std::string& name) {
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->run != Run::kSerial || s->limit || s->scan) return fail("'{}' cannot be written out", name);
    if (s->extent > 64) return fail("'{}' has {} iterations", name, s->extent);
    return edited(s, [](StmtNode& n) { n.run = Run::kUnrolled; });
  });
}

Result<Nest> reverse(const Nest& nest, const std::string& name) {
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->limit || s->run == Run::kVector || s->run == Run::kUnrolled)
      return fail("'{}' cannot run backwards", name);
    Result<> free = independent(nest, s);
    bool only_updates = !s->scan;
    for (const std::string& tensor : writes_of(s)) {
      std::vector<Access> found;
      accesses_in(s->body[0], tensor, found);
      only_updates &= std::all_of(found.begin(), found.end(), [](const Access& a) { return a.update; });
    }
    if (!free && !only_updates) return std::unexpected(free.error());
    return edited(s, [](StmtNode& n) { n.backwards = true; });
  });
}

// Where conditions on positions that depend on the loop are all decided: [begin, end).
Range open_range(const Stmt& body, const std::string& name, std::int64_t extent) {
  std::int64_t begin = 0, end = extent;
  auto look = [&](const Expr& e) {
    visit(e, [&](const ExprNode& x) {
      if (x.op != Op::kLess && x.op != Op::kLessEqual) return;
      if (!is_position(x.args[0]) || !is_position(x.args[1])) return;
      const Expr difference = plus(x.args[0], times(x.args[1], -1));  // < 0 or <= 0
      bool linear = true;
      const std::int64_t c = coefficient(difference, name, &linear);
      if (!linear || c == 0) return;
      const Expr rest = substitute(difference, {{name, integer(0)}});
      const std::int64_t most = range_of(rest).high + (x.op == Op::kLess ? 1 : 0),
                         least = range_of(rest).low + (x.op == Op::kLess ? 1 : 0);
      // Holds for all others where c v + most <= 0; a split of a concatenation holds for none where c v +
      // least > 0.
      if (c > 0) {
        const std::int64_t last = most <= 0 ? (-most) / c : -((most + c - 1) / c);
        if (least == most) {  // one threshold
          if (last + 1 > 0 && last + 1 < end) end = std::max<std::int64_t>(last + 1, begin);
        } else {
          end = std::min(end, std::max<std::int64_t>(0, last + 1));
        }
      } else {
        const std::int64_t first = most <= 0 ? 0 : (most + (-c) - 1) / (-c);
        begin = std::max(begin, std::min(first, extent));
      }
    });
  };
  visit(body, [&](const StmtNode& n) {
    if (n.value) look(n.value);
  });
  return {begin, std::max(begin, end)};
}

Result<Nest> peel(const Nest& nest, const std::string& name) {
  const std::string before = fresh(nest, name + "_1"), after = fresh(nest, name + "_2");
  return replace_loop(nest, name, [&](const Stmt& s) -> Result<Stmt> {
    if (s->run != Run::kSerial || s->limit || s->scan) return fail("'{}' is scheduled already", name);
    const Range open = open_range(s->body[0], name, s->extent);
    if (open.low == 0 && open.high == s->extent) return fail("'{}' has no edges", name);
    if (open.low >= open.high) return fail("'{}' is all edge", name);
    std::set<std::string> given{before, after};  // names this step has already used
    auto part = [&](const std::string& own, std::int64_t first, std::int64_t end) {
      const Expr position = plus(variable(own, end - first), first);
      const std::map<std::string, Expr> substitution{{name, position}};
      Stmt body = map_expressions(s->body[0], [&](const Expr& e) { return substitute(e, substitution); });
      for (const std::string& inner : own == name ? std::vector<std::string>{} : loop_names(body)) {
        std::string unique = fresh(nest, inner + own.substr(name.size()));
        while (!given.insert(unique).second) unique = fresh(nest, unique + "x");
        body = rewrite(body, [&](const Stmt& at) -> Stmt {
          if (at->kind != Kind::kFor || at->name != inner) return nullptr;
          const std::map<std::string, Expr> rename{{inner, variable(unique, at->extent)}};
          return edited(at, [&](StmtNode& n) {
            n.name = unique;
            n.body = {map_expressions(at->body[0], [&](const Expr& e) { return substitute(e, rename); })};
          });
        });
      }
      return edited(s, [&](StmtNode& n) {
        n.name = own;
        n.extent = end - first;
        n.body = {body};
      });
    };
    std::vector<Stmt> loops;
    if (open.low > 0) loops.push_back(part(before, 0, open.low));
    loops.push_back(part(name, open.low, open.high));
    if (open.high < s->extent) loops.push_back(part(after, open.high, s->extent));
    return block(loops);
  });
}

Result<Nest> stream(const Nest& nest, const std::string& tensor) {
  const auto info = nest.tensors.find(tensor);
  if (info == nest.tensors.end()) return fail("there is no tensor '{}'", tensor);
  const DType dtype = info->second.dtype;
  const bool halves = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
  if (dtype != DType::kFloat32 && !halves) return fail("'{}' is neither float32 nor halves", tensor);
  bool stored = false, read = false, computed = false;
  visit(nest.root, [&](const StmtNode& n) {
    stored |= n.kind == Kind::kStore && n.tensor == tensor;
    if (n.kind == Kind::kStore && n.tensor == tensor)
      computed |= n.value->op != Op::kLoad || n.value->dtype != dtype;
    read |= n.kind == Kind::kUpdate && n.tensor == tensor;
    auto look = [&](const Expr& e) { read |= tensors_of(e).contains(tensor); };
    if (n.value) look(n.value);
    if (n.native)
      for (const auto* list : {&n.native->reads, &n.native->writes})
        read |= std::find(list->begin(), list->end(), tensor) != list->end();
  });
  if (!stored || read) return fail("'{}' is read again, or never stored", tensor);
  if (halves && computed) return fail("halves of '{}' are computed, not copied", tensor);
  Nest result = nest;
  std::function<Stmt(const Stmt&)> walk = [&](const Stmt& s) -> Stmt {
    StmtNode node = *s;
    if (node.kind == Kind::kStore && node.tensor == tensor) node.stream = true;
    for (Stmt& child : node.body) child = walk(child);
    return std::make_shared<const StmtNode>(std::move(node));
  };
  result.root = walk(nest.root);
  return result;
}

}  // namespace

bool pinned(const std::vector<Stmt>& statements, const std::string& tensor, const std::string& variable) {
  std::vector<Access> accesses;
  for (const Stmt& s : statements) accesses_in(s, tensor, accesses);
  return pinned_accesses(accesses, variable, variables_bound_in(statements));
}

std::string print(const Step& step) {
  std::string text = step.name;
  for (const std::string& loop : step.loops) text += " " + loop;
  return step.number != 0 ? fmt::format("{} {}", text, step.number) : text;
}

Result<Nest> apply(const Nest& nest, const Step& step) {
  auto need = [&](std::size_t count) { return step.loops.size() >= count; };
  auto named = [&](Result<Nest> result) -> Result<Nest> {
    if (result) return result;
    return fail("{}: {}", print(step), result.error().message);
  };
  if (step.name == "split" && need(1)) return named(split(nest, step.loops[0], step.number));
  if (step.name == "fuse" && need(2)) return named(fuse(nest, step.loops[0], step.loops[1]));
  if (step.name == "distribute" && need(1)) return named(distribute(nest, step.loops[0]));
  if (step.name == "reorder" && need(2)) return named(reorder(nest, step.loops[0], step.loops[1]));
  if (step.name == "parallelize" && need(1)) return named(parallelize(nest, step.loops));
  if (step.name == "vectorize" && need(1))
    return named(vectorize(nest, step.loops[0], std::max<std::int64_t>(1, step.number)));
  if (step.name == "unroll" && need(1)) return named(unroll(nest, step.loops[0]));
  if (step.name == "reverse" && need(1)) return named(reverse(nest, step.loops[0]));
  if (step.name == "peel" && need(1)) return named(peel(nest, step.loops[0]));
  if (step.name == "stream" && need(1)) return named(stream(nest, step.loops[0]));
  return fail("there is no transformation '{}'", print(step));
}

Result<Nest> apply_all(Nest nest, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    KF_TRY(nest, apply(nest, step));
  }
  return nest;
}

}  // namespace kforge::smith
