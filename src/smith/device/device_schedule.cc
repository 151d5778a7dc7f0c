#include "smith/device/device_schedule.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;

// What a workgroup can be sure to find of shared memory on every device is 16 KB; reductions need some.
constexpr std::int64_t kSharedBytes = 10 << 10;
// More than this in every thread would leave the registers.
constexpr std::int64_t kPrivateElements = 16;
// Fewer workgroups than this cannot occupy a device.
constexpr std::int64_t kFewGroups = 128;

bool has_loops(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) { return s->kind == Kind::kFor; });
}

std::vector<Stmt> statements_of(const Stmt& s) {
  return s->kind == Kind::kBlock ? s->body : std::vector<Stmt>{s};
}

// Outer loops of a top-level nest that may run in any order, as long as they are nested directly.
std::vector<Stmt> parallel_loops(const Nest& nest, const Stmt& top) {
  std::vector<Stmt> loops;
  std::vector<std::string> names;
  for (Stmt s = top; s->kind == Kind::kFor; s = s->body[0]) {
    names.push_back(s->name);
    if (!apply(nest, {"parallelize", names, 0})) break;
    loops.push_back(s);
  }
  return loops;
}

std::set<std::string> variables_in(const Expr& e, const std::vector<Stmt>& loops) {
  std::set<std::string> found;
  for (const Stmt& s : loops)
    if (uses(e, s->name)) found.insert(s->name);
  return found;
}

std::optional<TileProduct> tile_product(const std::vector<Stmt>& outer, const std::vector<Stmt>& body) {
  // start of the sum, the loops over its depth, then only stores
  if (body.size() < 2 || body[0]->kind != Kind::kStore || body[1]->kind != Kind::kFor) return {};
  TileProduct t;
  Stmt s = body[1];
  for (; s->kind == Kind::kFor; s = s->body[0]) {
    if (s->scan || s->limit || s->backwards) return {};
    t.depth.push_back(s);
  }
  if (s->kind != Kind::kUpdate || s->combine != Combine::kSum || s->tensor != body[0]->tensor) return {};
  if (body[0]->value->op != Op::kNumber || body[0]->value->number != 0) return {};
  for (std::size_t i = 2; i < body.size(); ++i)
    if (body[i]->kind != Kind::kStore) return {};
  t.update = s;
  t.after.assign(body.begin() + 2, body.end());
  Expr value = s->value, condition;
  if (value->op == Op::kGuard && value->args[2]->op == Op::kNumber && value->args[2]->number == 0) {
    condition = value->args[0];
    value = value->args[1];
  }
  if (value->op != Op::kMul || value->type != Type::kFloat) return {};
  t.a = value->args[0], t.b = value->args[1];
  // The condition (padding) goes with the factor that has its loops.
  if (condition) {
    const auto wanted = variables_in(condition, outer), of_a = variables_in(t.a, outer),
               of_b = variables_in(t.b, outer);
    const Expr zero = number(0);
    if (std::includes(of_a.begin(), of_a.end(), wanted.begin(), wanted.end()))
      t.a = guard(condition, t.a, zero);
    else if (std::includes(of_b.begin(), of_b.end(), wanted.begin(), wanted.end()))
      t.b = guard(condition, t.b, zero);
    else
      return {};
  }
  if (tensors_of(t.a).contains(s->tensor) || tensors_of(t.b).contains(s->tensor)) return {};
  // Neighbouring threads take neighbouring columns: those of the innermost loop, where results lie side by
  // side.
  if (!outer.empty() && uses(t.a, outer.back()->name)) std::swap(t.a, t.b);
  for (const Stmt& loop : outer) {
    const bool in_a = uses(t.a, loop->name), in_b = uses(t.b, loop->name);
    (in_a == in_b ? t.batch : in_a ? t.rows : t.columns).push_back(loop);
  }
  const std::int64_t m = iterations_of(t.rows), n = iterations_of(t.columns), k = iterations_of(t.depth);
  if (m < 8 || n < 8 || k < 4 || iterations_of(t.batch) > 65535 || m > 65535 * 16 || n > 65535 * 16)
    return {};
  return t;
}

// Whether the loops inside run along memory, so that threads side by side read side by side.
struct Along {
  bool inside = false, outside = false;
};
Along along_memory(const DeviceKernel& kernel) {
  Along along;
  for (const Stmt& s : kernel.body) {
    if (s->kind != Kind::kFor) continue;
    std::string last;
    for (Stmt at = s; at->kind == Kind::kFor; at = at->body[0]) last = at->name;
    visit(s, [&](const StmtNode& node) {
      if (!node.value) return;
      visit(node.value, [&](const ExprNode& e) {
        if (e.op != Op::kLoad) return;
        bool linear = true;
        const Expr flat = flat_position(e.coefs, e.args);
        along.inside |= std::abs(coefficient(flat, last, &linear)) == 1;
        along.outside |= !kernel.outer.empty() && coefficient(flat, kernel.outer.back()->name, &linear) == 1;
      });
    });
  }
  return along;
}

bool can_share(const Nest& nest, const std::vector<Stmt>& body) {
  for (const Stmt& s : body) {
    if (s->kind == Kind::kNative) return false;
    if (s->kind != Kind::kFor) continue;
    if (s->scan) {
      if (s->backwards || s->limit || s->body[0]->body.size() != 2) return false;
      for (const Stmt& child : s->body[0]->body)
        if (child->kind != Kind::kStore && child->kind != Kind::kUpdate) return false;
      const auto& pair = s->body[0]->body;
      const Stmt& update = pair[0]->kind == Kind::kUpdate ? pair[0] : pair[1];
      const Stmt& store = pair[0]->kind == Kind::kUpdate ? pair[1] : pair[0];
      if (update->kind != Kind::kUpdate || store->kind != Kind::kStore || store->value->op != Op::kLoad ||
          store->value->name != update->tensor || tensors_of(update->value).contains(store->tensor))
        return false;
      continue;
    }
    if (shared_loops(nest, s).empty()) return false;
  }
  return true;
}

DeviceKernel classified(const Nest& nest, DeviceKernel kernel) {
  const std::int64_t items = kernel.items();
  kernel.product = tile_product(kernel.outer, kernel.body);
  if (kernel.product) {
    kernel.kind = DeviceKernel::Kind::kTiles;
    return kernel;
  }
  std::int64_t inside = 0;
  for (const Stmt& s : kernel.body)
    if (s->kind == Kind::kFor) {
      std::int64_t count = 1;
      for (Stmt at = s; at->kind == Kind::kFor; at = at->body[0]) count *= at->extent;
      inside = std::max(inside, count);
    }
  const Along along = along_memory(kernel);
  bool rows = has_loops(kernel.body) && can_share(nest, kernel.body);
  if (!kernel.outer.empty()) {
    rows &= inside >= 32;
    if (items >= 4096 && !along.inside && along.outside) rows = false;
    if (items >= 65536 && inside < 1024 && along.outside) rows = false;
  }
  kernel.kind = rows ? DeviceKernel::Kind::kRows : DeviceKernel::Kind::kThreads;
  kernel.block = 256;
  if (rows)
    while (kernel.block > 32 && kernel.block / 2 >= inside) kernel.block /= 2;
  return kernel;
}

// Top-level statements as kernels. Statements without a loop that threads could share (the start of a sum
// over everything, the sum, what is made of it) form one kernel of one workgroup.
std::vector<DeviceKernel> split_kernels(const Nest& nest) {
  std::vector<DeviceKernel> kernels;
  DeviceKernel single;
  auto flush = [&] {
    if (!single.body.empty()) kernels.push_back(classified(nest, std::move(single)));
    single = DeviceKernel();
  };
  for (const Stmt& top : nest.root->body) {
    const auto outer = parallel_loops(nest, top);
    if (outer.empty()) {
      single.body.push_back(top);
      if (single.note.empty()) single.note = top->note;
      continue;
    }
    flush();
    DeviceKernel kernel;
    kernel.outer = outer;
    kernel.body = statements_of(outer.back()->body[0]);
    kernel.note = top->note;
    kernels.push_back(classified(nest, std::move(kernel)));
  }
  flush();
  return kernels;
}

std::int64_t work_inside(const Stmt& s) {
  std::int64_t most = 1;
  for (const Stmt& child : s->body) most = std::max(most, work_inside(child));
  return s->kind == Kind::kFor ? s->extent * most : most;
}

bool intersects(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& x) { return b.contains(x); });
}

// Joins the nest after `at` to it where one kernel is better than two; false where not.
bool fuse_next(Nest& nest, std::size_t at, std::vector<Step>& steps) {
  const Stmt a = nest.root->body[at], b = nest.root->body[at + 1];
  if (a->kind != Kind::kFor || b->kind != Kind::kFor) return false;
  if (!intersects(writes_of(a), reads_of(b))) return false;
  const auto outer_a = parallel_loops(nest, a), outer_b = parallel_loops(nest, b);
  if (outer_a.empty() || outer_b.empty()) return false;
  const auto body_a = statements_of(outer_a.back()->body[0]), body_b = statements_of(outer_b.back()->body[0]);
  if (tile_product(outer_b, body_b)) return false;
  const bool product = tile_product(outer_a, body_a).has_value();
  for (std::size_t depth = std::min(outer_a.size(), outer_b.size()); depth > 0; --depth) {
    const bool whole = depth == outer_a.size() && depth == outer_b.size();
    if (product && (!whole || has_loops(body_b))) return false;
    std::int64_t groups = 1;
    for (std::size_t i = 0; i < depth; ++i) groups *= outer_a[i]->extent;
    const std::int64_t each = std::max(work_inside(a), work_inside(b)) / groups;
    if (!whole && groups < kFewGroups && each > 4096) return false;
    Nest tried = nest;
    std::vector<Step> taken;
    bool good = true;
    for (std::size_t i = 0; good && i < depth; ++i) {
      const Step step{"fuse", {outer_a[i]->name, outer_b[i]->name}, 0};
      auto next = apply(tried, step);
      good = next.has_value();
      if (good) tried = std::move(*next), taken.push_back(step);
    }
    if (!good) continue;
    // Still one kernel, with the loops that were shared.
    const auto now = parallel_loops(tried, tried.root->body[at]);
    if (now.size() < depth) continue;
    nest = std::move(tried);
    steps.insert(steps.end(), taken.begin(), taken.end());
    return true;
  }
  return false;
}

// Loops inside of a kernel that follow each other over the same elements (exp and its sum) become one.
void fuse_inside(Nest& nest, std::vector<Step>& steps) {
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const Stmt& top : nest.root->body) {
      const auto outer = parallel_loops(nest, top);
      if (outer.empty()) continue;
      std::string last;
      for (const Stmt& s : statements_of(outer.back()->body[0])) {
        if (s->kind == Kind::kFor && !s->scan && !last.empty()) pairs.emplace_back(last, s->name);
        if (s->kind == Kind::kFor) last = s->scan ? "" : s->name;
      }
    }
    for (const auto& [first, second] : pairs) {
      const Stmt a = find_loop(nest.root, first), b = find_loop(nest.root, second);
      if (a->extent != b->extent) continue;
      auto next = apply(nest, {"fuse", {first, second}, 0});
      if (!next) continue;
      // Threads must still be able to share it.
      if (shared_loops(*next, find_loop(next->root, first)).empty()) continue;
      nest = std::move(*next);
      steps.push_back({"fuse", {first, second}, 0});
      changed = true;
      break;
    }
  }
}

}  // namespace

std::int64_t iterations_of(const std::vector<Stmt>& loops) {
  std::int64_t count = 1;
  for (const Stmt& s : loops) count *= s->extent;
  return count;
}

std::int64_t DeviceKernel::items() const { return iterations_of(outer); }

std::vector<Stmt> carried_updates(const Stmt& loop) {
  std::vector<Stmt> found;
  std::function<void(const Stmt&)> walk = [&](const Stmt& s) {
    if (s->kind == Kind::kUpdate) {
      bool moved = false;
      for (const Expr& e : s->position)
        for (const std::string& name : loop_names(loop)) moved |= uses(e, name);
      int touched = 0;
      visit(loop, [&](const StmtNode& n) {
        touched += (n.kind == Kind::kStore || n.kind == Kind::kUpdate) && n.tensor == s->tensor;
        if (n.value) touched += tensors_of(n.value).contains(s->tensor) ? 2 : 0;
      });
      if (!moved && touched == 1) found.push_back(s);
    }
    for (const Stmt& child : s->body) walk(child);
  };
  walk(loop);
  return found;
}

std::vector<Stmt> shared_loops(const Nest& nest, const Stmt& loop) {
  std::vector<Stmt> loops;
  for (Stmt s = loop; s->kind == Kind::kFor; s = s->body[0]) {
    if (s->scan || s->limit || s->backwards || !apply(nest, {"vectorize", {s->name}, 1})) break;
    // What the loop combines must be combined by it alone.
    bool clean = true;
    const auto carried = carried_updates(s);
    visit(s, [&](const StmtNode& node) {
      if (node.kind != Kind::kUpdate) return;
      bool moved = false;
      for (const Expr& e : node.position) moved |= uses(e, s->name);
      const bool is_carried =
          std::any_of(carried.begin(), carried.end(), [&](const Stmt& u) { return u.get() == &node; });
      clean &= moved || is_carried;
    });
    if (!clean) break;
    loops.push_back(s);
  }
  return loops;
}

Result<DeviceKernels> schedule_kernels(const Nest& from, const std::set<std::string>& keep) {
  DeviceKernels result;
  result.nest = from;
  std::string native;
  visit(from.root, [&](const StmtNode& n) {
    if (n.native) native = n.note;
  });
  if (!native.empty())
    return fail_with_remedy("use a native platform, or a model with --generator",
                            fmt::format("'{}' has no kernel for devices yet", native));
  for (std::size_t at = 0; at + 1 < result.nest.root->body.size();)
    if (!fuse_next(result.nest, at, result.steps)) ++at;
  fuse_inside(result.nest, result.steps);
  // Temporaries of one kernel: registers, shared memory, or buffers where they are large.
  std::map<std::string, const DeviceKernel*> home;
  const auto before = split_kernels(result.nest);
  for (const DeviceKernel& kernel : before)
    if (!kernel.outer.empty()) home[kernel.outer.back()->name] = &kernel;
  std::map<std::string, std::int64_t> shared;
  result.nest = shrink_temporaries(result.nest, [&](const TensorInfo& tensor, const std::string& loop) {
    if (keep.contains(tensor.name)) return false;
    const std::int64_t count = element_count(tensor.shape);
    if (count == 1) return true;
    const auto found = home.find(loop);
    if (found == home.end()) return count <= kPrivateElements;
    if (found->second->kind == DeviceKernel::Kind::kThreads) return count <= kPrivateElements;
    if (found->second->kind == DeviceKernel::Kind::kTiles) return false;
    const Type type = type_for(tensor.dtype);
    const std::int64_t bytes = count * (type == Type::kInt || type == Type::kDouble ? 8 : 4);
    if (shared[loop] + bytes > kSharedBytes) return false;
    shared[loop] += bytes;
    return true;
  });
  result.kernels = split_kernels(result.nest);
  return result;
}

}  // namespace kforge::smith
