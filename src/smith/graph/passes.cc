#include "smith/graph/passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace kforge::smith {

using Where = TensorInfo::Where;

Program prune(Program program) {
  std::set<std::string> wanted;
  for (const auto& [name, tensor] : program.tensors)
    if (tensor.where == Where::kOutput || tensor.where == Where::kInout) wanted.insert(name);
  std::vector<Stage> kept;
  for (std::size_t i = program.stages.size(); i-- > 0;) {
    Stage& stage = program.stages[i];
    bool needed = false;
    for (const std::string& name : writes_of(stage)) needed |= wanted.contains(name);
    if (!needed) continue;
    wanted.merge(reads_of(stage));
    kept.push_back(std::move(stage));
  }
  std::reverse(kept.begin(), kept.end());
  program.stages = std::move(kept);
  return program;
}

Hoisted hoist_params(Program program) {
  Hoisted result{program, program};
  result.prepared.stages.clear();
  result.rest.stages.clear();
  std::set<std::string> fixed;
  for (const auto& [name, tensor] : program.tensors)
    if (tensor.where == Where::kParam || tensor.where == Where::kConstant) fixed.insert(name);
  for (const Stage& stage : program.stages) {
    bool only_params = !stage.native && program.tensor(stage.tensor).where == Where::kTemporary;
    const auto reads = reads_of(stage);
    for (const std::string& name : reads) only_params &= fixed.contains(name);
    only_params &= !reads.empty();
    if (only_params) fixed.insert(stage.tensor);
    (only_params ? result.prepared : result.rest).stages.push_back(stage);
  }
  return result;
}

namespace {

int digits_in(const Expr& e) {
  int count = 0;
  visit(e, [&](const ExprNode& node) { count += node.op == Op::kDigit; });
  return count;
}

// One dimension of the result (`kept`), or one that is reduced, is taken apart.
bool split_digits(Stage& stage, bool kept) {
  auto& list = kept ? stage.dims : stage.reduced;
  for (std::size_t d = 0; d < list.size(); ++d) {
    if (kept && stage.scan_axis == static_cast<int>(d)) continue;
    const Expr v = list[d];
    std::int64_t part = 0;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op == Op::kDigit && node.args[0]->op == Op::kVar && node.args[0]->name == v->name) {
        if (node.integer > 1 && v->integer % node.integer == 0) part = node.integer;
        if (part == 0 && node.integer == 1 && node.base > 1 && v->integer % node.base == 0 &&
            node.base < v->integer)
          part = node.base;
      }
    });
    if (part <= 1 || part >= v->integer) continue;
    const Expr high = variable(v->name + "_g", v->integer / part), low = variable(v->name, part);
    const Expr body = substitute(stage.body, {{v->name, plus(times(high, part), low)}});
    if (digits_in(body) >= digits_in(stage.body)) continue;
    stage.body = body;
    list[d] = low;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(d), high);
    if (kept) {
      stage.view[d] = part;
      stage.view.insert(stage.view.begin() + static_cast<std::ptrdiff_t>(d), v->integer / part);
      if (stage.scan_axis > static_cast<int>(d)) ++stage.scan_axis;
    }
    return true;
  }
  return false;
}

// Loads are put into the flat form while dimensions are judged: a view does not matter to them.
Expr flattened(const Expr& e) {
  return rewrite(e, [](const Expr& x) -> Expr {
    if (x->op != Op::kLoad || x->args.size() <= 1) return nullptr;
    return load(x->name, x->dtype, {element_count(x->coefs)}, {flattened(flat_position(x->coefs, x->args))});
  });
}

// Boundaries between dimensions that must stay, as strides of the flat tensor, by tensor: stages that pass
// rows to each other must agree on what a row is, or they cannot share loops.
using Cuts = std::map<std::string, std::set<std::int64_t>>;

// Rows shorter than this are not worth a loop of their own.
constexpr std::int64_t kShortRow = 16;

// Whether a stage that writes or reads tensors with cuts may see `a` and `b` (inside of it) as one dimension.
bool cut_between(const Cuts& cuts, const Stage& stage, std::size_t d, bool kept) {
  const auto& list = kept ? stage.dims : stage.reduced;
  if (kept) {
    std::int64_t inner = 1;
    for (std::size_t i = d + 1; i < list.size(); ++i) inner *= list[i]->integer;
    const auto own = cuts.find(stage.tensor);
    if (own != cuts.end() && own->second.contains(inner)) return true;
  }
  bool found = false;
  visit(stage.body, [&](const ExprNode& node) {
    const auto other = node.op == Op::kLoad ? cuts.find(node.name) : cuts.end();
    if (found || other == cuts.end()) return;
    bool linear = true;
    const std::int64_t step = coefficient(flat_position(node.coefs, node.args), list[d]->name, &linear);
    found = linear && other->second.contains(step);
  });
  return found;
}

bool merge_once(Stage& stage, const Cuts& cuts) {
  for (const bool kept : {true, false}) {
    auto& list = kept ? stage.dims : stage.reduced;
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (kept && (stage.scan_axis == static_cast<int>(d))) continue;
      if (list[d]->integer == 1) {  // a dimension of one
        if (kept && stage.dims.size() == 1) continue;
        if (!kept && stage.reduced.size() == 1) continue;
        stage.body = substitute(stage.body, {{list[d]->name, integer(0)}});
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(d));
        if (kept) {
          stage.view.erase(stage.view.begin() + static_cast<std::ptrdiff_t>(d));
          if (stage.scan_axis > static_cast<int>(d)) --stage.scan_axis;
        }
        return true;
      }
      if (d + 1 >= list.size() || (kept && stage.scan_axis == static_cast<int>(d) + 1)) continue;
      if (cut_between(cuts, stage, d, kept)) continue;
      const Expr a = list[d], b = list[d + 1];
      const Expr merged = variable(b->name, a->integer * b->integer);
      const Expr before = flattened(stage.body);
      const Expr body = substitute(
          before, {{a->name, digit(merged, b->integer, 0)}, {b->name, digit(merged, 1, b->integer)}});
      if (digits_in(body) > digits_in(before)) continue;
      stage.body = substitute(
          stage.body, {{a->name, digit(merged, b->integer, 0)}, {b->name, digit(merged, 1, b->integer)}});
      list[d + 1] = merged;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(d));
      if (kept) {
        stage.view[d + 1] = a->integer * b->integer;
        stage.view.erase(stage.view.begin() + static_cast<std::ptrdiff_t>(d));
        if (stage.scan_axis > static_cast<int>(d)) --stage.scan_axis;
      }
      return true;
    }
  }
  return false;
}

// The boundaries a stage has kept, in its own tensor and in those it reads. True where there is a new one.
bool note_cuts(const Stage& stage, const std::set<std::string>& written, Cuts& cuts) {
  bool fresh = false;
  const bool reduces = !stage.reduced.empty();
  std::int64_t inner = 1, elements = 1;
  for (const auto* list : {&stage.dims, &stage.reduced})
    for (const Expr& v : *list) elements *= v->integer;
  for (std::size_t i = stage.dims.size(); i-- > 1;) {
    inner *= stage.dims[i]->integer;
    if (inner >= kShortRow || reduces) fresh |= cuts[stage.tensor].insert(inner).second;
  }
  visit(stage.body, [&](const ExprNode& node) {
    if (node.op != Op::kLoad || !written.contains(node.name)) return;
    const Expr flat = flat_position(node.coefs, node.args);
    if (flat->op != Op::kAffine) return;
    // Values for whole rows may be as few as they like: nothing runs along them.
    const bool for_rows = element_count(node.coefs) < elements;
    for (std::size_t i = 0; i < flat->args.size(); ++i) {
      const std::int64_t step = flat->coefs[i];
      if (flat->args[i]->op == Op::kVar && step > 1 &&
          (step >= kShortRow || for_rows || cuts[stage.tensor].contains(step)))
        fresh |= cuts[node.name].insert(step).second;
    }
  });
  return fresh;
}

// Loads whose position became digits of a merged variable are seen under the merged view instead.
Expr with_plain_views(const Program& program, const Expr& e) {
  return rewrite(e, [&](const Expr& x) -> Expr {
    if (x->op != Op::kLoad) return nullptr;
    std::vector<Expr> args;
    for (const Expr& arg : x->args) args.push_back(with_plain_views(program, arg));
    // Neighbouring positions that together are a simpler one.
    Shape view = x->coefs;
    for (std::size_t d = 0; d + 1 < args.size();) {
      const Expr joined = plus(times(args[d], view[d + 1]), args[d + 1]);
      if (is_position(args[d]) && is_position(args[d + 1]) &&
          digits_in(joined) < digits_in(args[d]) + digits_in(args[d + 1])) {
        args[d] = joined;
        view[d] *= view[d + 1];
        args.erase(args.begin() + static_cast<std::ptrdiff_t>(d) + 1);
        view.erase(view.begin() + static_cast<std::ptrdiff_t>(d) + 1);
        d = d > 0 ? d - 1 : 0;
      } else {
        ++d;
      }
    }
    return load(x->name, x->dtype, view, args);
  });
}

// Loads are brought to the view under which the stage that wrote the tensor sees it, where that needs no
// digits.
Expr with_view_of_writer(const std::map<std::string, Shape>& views, const Expr& e) {
  return rewrite(e, [&](const Expr& x) -> Expr {
    if (x->op != Op::kLoad) return nullptr;
    const auto found = views.find(x->name);
    if (found == views.end() || found->second == x->coefs) return nullptr;
    const Expr flat = flat_position(x->coefs, x->args);
    std::vector<Expr> position = unflatten(flat, found->second);
    int before = 0, after = 0;
    for (const Expr& p : x->args) before += digits_in(p);
    for (const Expr& p : position) after += digits_in(p);
    if (after > before) return nullptr;
    return load(x->name, x->dtype, found->second, position);
  });
}

}  // namespace

Stage with_reduced_apart(Stage stage) {
  while (split_digits(stage, false)) {
  }
  return stage;
}

Program tidy_dimensions(Program program) {
  std::set<std::string> written;
  for (Stage& stage : program.stages) {
    if (stage.native) continue;
    while (split_digits(stage, true) || split_digits(stage, false)) {
    }
    written.insert(stage.tensor);
  }
  // Every stage merges what it can; what one could not merge, those it exchanges rows with keep apart too.
  const std::vector<Stage> apart = program.stages;
  Cuts cuts;
  for (bool fresh = true; fresh;) {
    fresh = false;
    program.stages = apart;
    for (Stage& stage : program.stages) {
      if (stage.native) continue;
      while (merge_once(stage, cuts)) {
      }
      fresh |= note_cuts(stage, written, cuts);
    }
  }
  std::map<std::string, Shape> views;
  for (Stage& stage : program.stages) {
    if (stage.native) continue;
    stage.body = with_plain_views(program, stage.body);
    stage.body = with_view_of_writer(views, stage.body);
    views[stage.tensor] = stage.view;
  }
  return program;
}

Program split_reductions(Program program, int threads) {
  std::vector<Stage> stages;
  for (Stage& stage : program.stages) {
    std::int64_t results = 1, work = 1;
    for (std::int64_t extent : stage.view) results *= extent;
    for (const Expr& r : stage.reduced) work *= r->integer;
    const bool starved = !stage.native && stage.combine != Combine::kNone && stage.scan_axis < 0 &&
                         stage.node == nullptr && results < threads && results * work >= 16384 &&
                         !stage.reduced.empty();
    if (!starved) {
      stages.push_back(std::move(stage));
      continue;
    }
    // The outermost reduced dimension becomes the parts; one long one is cut at a divisor.
    if (stage.reduced.size() == 1 || stage.reduced[0]->integer < threads) {
      const Expr v = stage.reduced[0];
      std::int64_t part = 0;
      for (std::int64_t n = 4096; n >= 256 && part == 0; --n)
        if (v->integer % n == 0 && v->integer / n >= threads) part = n;
      if (part > 0) {
        const Expr high = variable(v->name + "_p", v->integer / part), low = variable(v->name, part);
        stage.body = substitute(stage.body, {{v->name, plus(times(high, part), low)}});
        stage.reduced[0] = low;
        stage.reduced.insert(stage.reduced.begin(), high);
      }
    }
    if (stage.reduced.size() < 2) {
      stages.push_back(std::move(stage));
      continue;
    }
    const TensorInfo info = program.tensor(stage.tensor);
    const std::string parts = stage.tensor + "_parts";
    const Expr outer = stage.reduced[0];
    Stage first = stage, second = stage;
    first.tensor = parts;
    first.view.push_back(outer->integer);
    first.dims.push_back(outer);
    first.reduced.erase(first.reduced.begin());
    const DType dtype =
        info.dtype == DType::kFloat16 || info.dtype == DType::kBFloat16 ? DType::kFloat32 : info.dtype;
    program.tensors[parts] = {parts, dtype, first.view, Where::kTemporary, {}, nullptr};
    std::vector<Expr> position;
    for (Expr& dim : second.dims) {
      dim = variable(dim->name + "_t", dim->integer);
      position.push_back(dim);
    }
    second.reduced = {variable(outer->name + "_t", outer->integer)};
    position.push_back(second.reduced[0]);
    second.body = load(parts, dtype, first.view, position);
    second.label += " parts";
    stages.push_back(std::move(first));
    stages.push_back(std::move(second));
  }
  program.stages = std::move(stages);
  return program;
}

}  // namespace kforge::smith
