// Sums, products and extremes that a loop computes: found, kept in a register (or in several vectors) while
// the loop runs, and stored when it ends.
#include <functional>

#include <fmt/format.h>

#include "smith/emit/nest_writer.h"

namespace kforge::smith {

using Kind = StmtNode::Kind;

namespace {

constexpr std::int64_t kMostSpread = 8;

}  // namespace

std::string how_of(Combine combine) {
  static const std::string kNames[] = {"Plus", "Plus", "Times", "Larger", "Smaller"};
  return kNames[static_cast<std::size_t>(combine)];
}

bool NestWriter::same_place(const Stmt& a, const Stmt& b) {
  if (a->tensor != b->tensor || a->position.size() != b->position.size() || a->view != b->view) return false;
  for (std::size_t i = 0; i < a->position.size(); ++i)
    if (!same(a->position[i], b->position[i])) return false;
  return true;
}

// The one loop in between that moves the place of an update, where it is written out: each of its iterations
// has a place, and an accumulator, of its own.
const StmtNode* NestWriter::spreading_loop(const Stmt& update, const std::vector<const StmtNode*>& between) {
  const Expr flat = flat_position(update->view, update->position);
  const StmtNode* found = nullptr;
  for (const StmtNode* loop : between) {
    if (!uses(flat, loop->name)) continue;
    bool linear = true;
    const std::int64_t step = coefficient(flat, loop->name, &linear);
    if (found || loop->run != Run::kUnrolled || loop->extent > kMostSpread || !linear || step == 0)
      return nullptr;
    found = loop;
  }
  return found;
}

std::vector<NestWriter::Steady> NestWriter::steady_updates(const Stmt& loop) const {
  std::vector<Steady> found;
  std::vector<const StmtNode*> around;
  std::function<void(const Stmt&)> walk = [&](const Stmt& s) {
    if (s->kind == Kind::kFor) around.push_back(s.get());
    if (s->kind == Kind::kUpdate && !accumulators_.contains(s.get())) {
      bool steady = true;
      for (const Expr& e : s->position)
        for (const StmtNode* each : around) steady &= !uses(e, each->name);
      const StmtNode* spread = !steady && loop->run == Run::kVector ? spreading_loop(s, around) : nullptr;
      int touched = 0;
      visit(loop, [&](const StmtNode& n) {
        touched += (n.kind == Kind::kStore || n.kind == Kind::kUpdate) && n.tensor == s->tensor;
        if (n.value) touched += tensors_of(n.value).contains(s->tensor) ? 2 : 0;
      });
      if ((steady || spread) && touched == 1) found.push_back({s, spread});
    }
    for (const Stmt& child : s->body) walk(child);
    if (s->kind == Kind::kFor) around.pop_back();
  };
  walk(loop);
  return found;
}

bool NestWriter::starts(const Stmt& init, const Stmt& loop) const {
  if (init->value->op != Op::kNumber || loop->scan) return false;
  for (const auto& [update, spread] : steady_updates(loop))
    if (!spread && same_place(init, update) &&
        same(init->value, identity_of(update->combine, init->value->type)))
      return true;
  return false;
}

const StmtNode* NestWriter::vector_between(const Stmt& loop, const Stmt& update) const {
  const StmtNode* result = nullptr;
  visit(loop, [&](const StmtNode& n) {
    if (n.kind != Kind::kFor || n.run != Run::kVector) return;
    bool inside = false;
    visit(n.body[0], [&](const StmtNode& m) { inside |= &m == update.get(); });
    if (inside) result = &n;
  });
  return result && can_lanes(*result, true) ? result : nullptr;
}

bool NestWriter::can_lanes(const StmtNode& loop, bool undecided) const {
  bool good = loop.extent >= 4;
  // Sums that all lanes add to need an accumulator: one that this loop, or one around it, can keep.
  std::set<const StmtNode*> kept;
  for (const Steady& steady : steady_updates(Stmt(Stmt(), &loop))) kept.insert(steady.update.get());
  for (const auto& [update, accumulator] : accumulators_)
    if (accumulator.lanes) kept.insert(update);
  visit(loop.body[0], [&](const StmtNode& n) {
    if (n.kind != Kind::kStore && n.kind != Kind::kUpdate) return;
    CppScope none;
    good &= has_lanes(none, n.value, loop.name);
    const TensorInfo& tensor = nest_.tensors.at(n.tensor);
    bool linear = true;
    const std::int64_t step = coefficient(flat_position(n.view, n.position), loop.name, &linear);
    const bool steady = n.kind == Kind::kUpdate && step == 0 && linear;
    good &= linear && (step == 1 || steady);
    if (steady) good &= kept.contains(&n) || undecided;
    if (steady) {
      good &= tensor.dtype == DType::kFloat32 && n.value->type == Type::kFloat;
    } else if (n.kind == Kind::kUpdate) {
      good &= tensor.dtype == DType::kFloat32;
    } else {
      good &= tensor.dtype == DType::kFloat32 || tensor.dtype == DType::kBFloat16 ||
              tensor.dtype == DType::kFloat16 ||
              (tensor.dtype == DType::kBool && n.value->type == Type::kBool);
    }
    if (is_scalar_local(tensor) && !steady) good = false;
  });
  return good;
}

void NestWriter::for_loop(const Stmt& s) {
  const Stmt init = std::exchange(initial_, nullptr);
  if (s->scan && s->run == Run::kVector && scan_lanes(s, init)) return;
  if (transpose(s)) return;
  // Accumulators of what this loop reduces.
  std::vector<Steady> mine = s->scan ? std::vector<Steady>{} : steady_updates(s);
  if (s->run == Run::kParallel) mine.clear();
  std::erase_if(mine, [&](const Steady& one) {
    return one.spread && (!lanes_.empty() || !vector_between(s, one.update));
  });
  for (const auto& [update, spread] : mine) {
    Accumulator acc{fmt::format("{}_sum{}", update->tensor, ++counter_), false, update->value->type, spread};
    const StmtNode* vector = lanes_.empty() ? vector_between(s, update) : nullptr;
    acc.lanes = vector != nullptr;
    const bool fresh = init && same_place(init, update);
    const std::string neutral = identity_text(update->combine, update->value->type);
    if (acc.lanes) {
      used_.insert("vectors/accumulators.h");
      std::string names;
      for (const std::string& name : acc.names())
        names += fmt::format("{}{}({})", names.empty() ? "" : ", ", name, neutral);
      line(fmt::format("Partial<{}, {}> {};", how_of(update->combine), vector->unroll, names));
    } else if (!lanes_.empty()) {
      line(fmt::format("F {} = {};", acc.name, fresh ? fmt::format("set<F>({})", neutral) : current(update)));
    } else {
      line(fmt::format("{} {} = {};", c_type(update->value->type), acc.name,
                       fresh ? neutral : current(update)));
    }
    accumulators_[update.get()] = acc;
  }
  open_loop(s);
  // What was reduced goes where it belongs.
  for (const auto& [update, spread] : mine) {
    const Accumulator acc = accumulators_.at(update.get());
    accumulators_.erase(update.get());
    const bool fresh = init && same_place(init, update);
    const std::vector<std::string> names = acc.names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (spread) open_copy(spread->name, i);
      CppValue value{{}, names[i], lanes_.empty()};
      if (acc.lanes) {
        value.text = names[i] + ".result()";
        if (!fresh)
          value.text =
              fmt::format("{}::of<float>({}, {})", how_of(update->combine), current(update), value.text);
      }
      line(store_text(scope(), nest_.tensors.at(update->tensor), update->view, update->position, value,
                      update->value->type, false));
      if (spread) close_copy(spread->name);
    }
  }
}

std::vector<std::string> NestWriter::Accumulator::names() const {
  if (!spread) return {name};
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < spread->extent; ++i) all.push_back(fmt::format("{}_{}", name, i));
  return all;
}

void NestWriter::open_copy(const std::string& loop, std::size_t iteration) {
  line("{");
  ++depth_;
  line(fmt::format("constexpr long {} = {};", loop, iteration));
  copies_[loop] = iteration;
}

void NestWriter::close_copy(const std::string& loop) {
  copies_.erase(loop);
  --depth_;
  line("}");
}

bool NestWriter::spreads_accumulators(const StmtNode& loop) const {
  for (const auto& [update, accumulator] : accumulators_)
    if (accumulator.spread == &loop) return true;
  return false;
}

std::string NestWriter::identity_text(Combine combine, Type type) {
  const Expr e = identity_of(combine, type);
  if (type == Type::kInt || type == Type::kBool) {
    if (combine == Combine::kMax) return "INT64_MIN";
    if (combine == Combine::kMin) return "INT64_MAX";
    return fmt::format("{}", e->integer);
  }
  return literal(e->number, type);
}

std::string NestWriter::current(const Stmt& update) {
  const TensorInfo& tensor = nest_.tensors.at(update->tensor);
  const CppScope s = scope();
  const CppValue value = cpp_value(s, load(update->tensor, tensor.dtype, update->view, update->position));
  lines_of(value);
  return value.uniform && !lanes_.empty() ? fmt::format("set<F>({})", value.text) : value.text;
}

void NestWriter::update(const Stmt& s) {
  const CppScope at = scope();
  const auto found = accumulators_.find(s.get());
  if (found != accumulators_.end() && found->second.lanes) {
    const CppValue value = cpp_value(at, s->value);
    lines_of(value);
    const std::string text = value.uniform ? fmt::format("set<F>({})", value.text) : value.text;
    const Accumulator& acc = found->second;
    const std::string name = acc.spread ? acc.names()[copies_.at(acc.spread->name)] : acc.name;
    return line(fmt::format("{}.take({}, {});", name, lanes_.empty() ? "Lane<float, 0>()" : "lane", text));
  }
  const CppValue value = cpp_value(at, s->value);
  lines_of(value);
  const std::string now = found != accumulators_.end() ? found->second.name : current(s);
  CppValue result{{}, combined_text(s->combine, now, value, s->value->type), lanes_.empty()};
  if (found != accumulators_.end()) return line(fmt::format("{} = {};", now, result.text));
  line(store_text(at, nest_.tensors.at(s->tensor), s->view, s->position, result, s->value->type, false));
}

std::string NestWriter::combined_text(Combine combine, const std::string& now, const CppValue& value,
                                      Type type) {
  const std::string lanes =
      value.uniform && !lanes_.empty() ? fmt::format("set<F>({})", value.text) : value.text;
  if (combine == Combine::kSum) return fmt::format("{} + {}", now, bracket(lanes));
  if (combine == Combine::kProduct) return fmt::format("{} * {}", now, bracket(lanes));
  const bool larger = combine == Combine::kMax;
  if (type == Type::kInt || type == Type::kBool)
    return fmt::format("std::{}<int64_t>({}, {})", larger ? "max" : "min", now, lanes);
  if (type == Type::kDouble)
    return fmt::format("({1} != {1} || {1} {2} {0} ? {1} : {0})", now, bracket(lanes), larger ? ">" : "<");
  used_.insert("vectors/extrema.h");
  return fmt::format("{}<{}>({}, {})", larger ? "maximum" : "minimum", lanes_.empty() ? "float" : "F", now,
                     lanes);
}

std::string NestWriter::bracket(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

}  // namespace kforge::smith
