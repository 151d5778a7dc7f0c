#include "smith/emit/cpp.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "smith/emit/cpp_expr.h"
#include "smith/emit/prelude.h"

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;
using Where = TensorInfo::Where;

// Locals beyond this lie in the heap, one piece per thread, not on the stack.
constexpr std::int64_t kStackBytes = 96 << 10;

std::string how_of(Combine combine) {
  static const std::string kNames[] = {"Plus", "Plus", "Times", "Larger", "Smaller"};
  return kNames[static_cast<std::size_t>(combine)];
}

class NestWriter {
 public:
  NestWriter(const Nest& nest, std::set<std::string>& used, int& counter)
      : nest_(nest), used_(used), counter_(counter) {}

  // Statements of the nests [first, last) of the root.
  std::string write(std::size_t first, std::size_t last, bool team) {
    team_ = team;
    depth_ = team ? 2 : 1;
    for (std::size_t i = first; i < last; ++i) top(nest_.root->body[i]);
    return std::move(text_);
  }
  std::int64_t thread_bytes = 0;  // of the heap, for large locals

 private:
  struct Accumulator {
    std::string name;
    bool lanes = false;  // a Partial, else a plain variable (or a vector inside of a vector loop)
    Type type = Type::kFloat;
  };

  void line(const std::string& text) {
    text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
  }

  bool has_parallel(const Stmt& s) const {
    bool found = false;
    visit(s, [&](const StmtNode& n) { found |= n.run == Run::kParallel; });
    return found;
  }

  void top(const Stmt& s) {
    if (!s->note.empty()) line("// " + s->note);
    if (s->kind == Kind::kHandwritten) return handwritten(s);
    if (team_ && !has_parallel(s)) {
      line("#pragma omp single");
      line("{");
      ++depth_;
      statement(s);
      --depth_;
      return line("}");
    }
    statement(s);
  }

  void handwritten(const Stmt& s) {
    std::string lines = s->handwritten->lines;
    for (const auto* list : {&s->handwritten->reads, &s->handwritten->writes})
      for (const std::string& tensor : *list)
        for (std::size_t at = 0; (at = lines.find("{" + tensor + "}", at)) != std::string::npos;
             at += tensor.size())
          lines.replace(at, tensor.size() + 2, tensor);
    const bool single = team_ && !s->handwritten->parallel;
    if (single) line("#pragma omp single");
    if (single) line("{");
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      const std::string text = lines.substr(begin, end - begin);
      if (!(text.starts_with("#pragma omp") && !team_)) line((single ? "  " : "") + text);
      begin = end + 1;
    }
    if (single) line("}");
  }

  CppScope scope() {
    CppScope scope;
    scope.tensors = &nest_.tensors;
    scope.used = &used_;
    scope.lane_variable = lanes_;
    scope.counter = &counter_;
    return scope;
  }

  void lines_of(const CppValue& value) {
    for (const std::string& text : value.lines) line(text);
  }

  void statement(const Stmt& s) {
    switch (s->kind) {
      case Kind::kBlock:
        for (std::size_t i = 0; i < s->body.size(); ++i) {
          const Stmt& child = s->body[i];
          // A reduction that begins with its neutral element needs no store of it.
          if (child->kind == Kind::kStore && i + 1 < s->body.size() && s->body[i + 1]->kind == Kind::kFor &&
              starts(child, s->body[i + 1])) {
            initial_ = child;
            continue;
          }
          statement(child);
        }
        break;
      case Kind::kFor:
        for_loop(s);
        break;
      case Kind::kStore:
        store(s);
        break;
      case Kind::kUpdate:
        update(s);
        break;
      case Kind::kHandwritten:
        break;
    }
  }

  static bool same_place(const Stmt& a, const Stmt& b) {
    if (a->tensor != b->tensor || a->position.size() != b->position.size() || a->view != b->view)
      return false;
    for (std::size_t i = 0; i < a->position.size(); ++i)
      if (!same(a->position[i], b->position[i])) return false;
    return true;
  }

  // Updates below a loop whose place no loop in between moves: kept in a register.
  std::vector<Stmt> steady_updates(const Stmt& loop) const {
    std::vector<Stmt> found;
    std::vector<std::string> around;
    std::function<void(const Stmt&)> walk = [&](const Stmt& s) {
      if (s->kind == Kind::kFor) around.push_back(s->name);
      if (s->kind == Kind::kUpdate && !accumulators_.contains(s.get())) {
        bool steady = true;
        for (const Expr& e : s->position)
          for (const std::string& name : around) steady &= !uses(e, name);
        int touched = 0;
        visit(loop, [&](const StmtNode& n) {
          touched += (n.kind == Kind::kStore || n.kind == Kind::kUpdate) && n.tensor == s->tensor;
          if (n.value) touched += tensors_of(n.value).contains(s->tensor) ? 2 : 0;
        });
        if (steady && touched == 1) found.push_back(s);
      }
      for (const Stmt& child : s->body) walk(child);
      if (s->kind == Kind::kFor) around.pop_back();
    };
    walk(loop);
    return found;
  }

  bool starts(const Stmt& init, const Stmt& loop) const {
    if (init->value->op != Op::kNumber || loop->scan) return false;
    for (const Stmt& update : steady_updates(loop))
      if (same_place(init, update) && same(init->value, identity_of(update->combine, init->value->type)))
        return true;
    return false;
  }

  // The vector loop between a loop and an update inside of it, where it will be written with vectors.
  const StmtNode* vector_between(const Stmt& loop, const Stmt& update) const {
    const StmtNode* result = nullptr;
    visit(loop, [&](const StmtNode& n) {
      if (n.kind != Kind::kFor || n.run != Run::kVector) return;
      bool inside = false;
      visit(n.body[0], [&](const StmtNode& m) { inside |= &m == update.get(); });
      if (inside) result = &n;
    });
    return result && can_lanes(*result, true) ? result : nullptr;
  }

  // `undecided`: a loop around it is about to choose its accumulators.
  bool can_lanes(const StmtNode& loop, bool undecided = false) const {
    bool good = loop.extent >= 4;
    // Sums that all lanes add to need an accumulator: one that this loop, or one around it, can keep.
    std::set<const StmtNode*> kept;
    for (const Stmt& update : steady_updates(Stmt(Stmt(), &loop))) kept.insert(update.get());
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

  void for_loop(const Stmt& s) {
    const Stmt init = std::exchange(initial_, nullptr);
    if (s->scan && s->run == Run::kVector && scan_lanes(s, init)) return;
    // Accumulators of what this loop reduces.
    std::vector<Stmt> mine = s->scan ? std::vector<Stmt>{} : steady_updates(s);
    if (s->run == Run::kParallel) mine.clear();
    for (const Stmt& update : mine) {
      Accumulator acc{fmt::format("{}_sum{}", update->tensor, ++counter_), false, update->value->type};
      const StmtNode* vector = lanes_.empty() ? vector_between(s, update) : nullptr;
      acc.lanes = vector != nullptr;
      const bool fresh = init && same_place(init, update);
      const std::string neutral = identity_text(update->combine, update->value->type);
      if (acc.lanes) {
        used_.insert("accumulators");
        line(fmt::format("Partial<{}, {}> {}({});", how_of(update->combine), vector->unroll, acc.name,
                         neutral));
      } else if (!lanes_.empty()) {
        line(fmt::format("F {} = {};", acc.name,
                         fresh ? fmt::format("set<F>({})", neutral) : current(update)));
      } else {
        line(fmt::format("{} {} = {};", c_type(update->value->type), acc.name,
                         fresh ? neutral : current(update)));
      }
      accumulators_[update.get()] = acc;
    }
    open_loop(s);
    // What was reduced goes where it belongs.
    for (const Stmt& update : mine) {
      const Accumulator acc = accumulators_.at(update.get());
      accumulators_.erase(update.get());
      const bool fresh = init && same_place(init, update);
      CppValue value{{}, acc.name, lanes_.empty()};
      if (acc.lanes) {
        value.text = acc.name + ".result()";
        if (!fresh)
          value.text =
              fmt::format("{}::of<float>({}, {})", how_of(update->combine), current(update), value.text);
      }
      line(store_text(scope(), nest_.tensors.at(update->tensor), update->view, update->position, value,
                      update->value->type, false));
    }
  }

  std::string identity_text(Combine combine, Type type) {
    const Expr e = identity_of(combine, type);
    if (type == Type::kInt || type == Type::kBool) {
      if (combine == Combine::kMax) return "INT64_MIN";
      if (combine == Combine::kMin) return "INT64_MAX";
      return fmt::format("{}", e->integer);
    }
    return literal(e->number, type);
  }

  // The value an update starts from.
  std::string current(const Stmt& update) {
    const TensorInfo& tensor = nest_.tensors.at(update->tensor);
    const CppScope s = scope();
    const CppValue value = cpp_value(s, load(update->tensor, tensor.dtype, update->view, update->position));
    lines_of(value);
    return value.uniform && !lanes_.empty() ? fmt::format("set<F>({})", value.text) : value.text;
  }

  void open_loop(const Stmt& s) {
    const std::string& v = s->name;
    std::string end = fmt::format("{}", s->extent);
    if (s->limit) end = fmt::format("std::min<long>({}, {})", s->extent, position_text(scope(), s->limit));
    if (s->run == Run::kVector && can_lanes(*s) && lanes_.empty()) {
      used_.insert("along");
      line(fmt::format("along<{}>({}, [&](auto lane, long {}) __attribute__((always_inline)) {{", s->unroll,
                       end, v));
      ++depth_;
      const std::size_t mark = text_.size();
      lanes_ = v;
      line("using F = typename decltype(lane)::F;");
      const std::size_t after = text_.size();
      body_of(s);
      lanes_.clear();
      --depth_;
      if (text_.find("F>", after) == std::string::npos && text_.find("F ", after) == std::string::npos)
        text_.erase(mark, after - mark);
      return line("});");
    }
    if (s->run == Run::kParallel && team_ && !collapsing_) {
      int collapse = 1;
      for (Stmt in = s->body[0]; in->kind == Kind::kFor && in->run == Run::kParallel; in = in->body[0])
        ++collapse;
      line(fmt::format("#pragma omp for schedule(static){}",
                       collapse > 1 ? fmt::format(" collapse({})", collapse) : ""));
      collapsing_ = true;
    }
    if (s->run == Run::kUnrolled) line(fmt::format("#pragma GCC unroll {}", s->extent));
    if (s->backwards)
      line(fmt::format("for (long {0} = {1} - 1; {0} >= 0; --{0}) {{", v, end));
    else
      line(fmt::format("for (long {0} = 0; {0} < {1}; ++{0}) {{", v, end));
    ++depth_;
    const bool inner_parallel = s->body[0]->kind == Kind::kFor && s->body[0]->run == Run::kParallel;
    if (!inner_parallel) collapsing_ = false;
    body_of(s);
    --depth_;
    line("}");
  }

  void body_of(const Stmt& s) {
    for (const std::string& name : s->locals) {
      const TensorInfo& tensor = nest_.tensors.at(name);
      const std::int64_t count = element_count(tensor.shape),
                         bytes = count * static_cast<std::int64_t>(size_of(tensor.dtype));
      const std::string type(c_type_of(tensor.dtype));
      if (count == 1) {
        line(fmt::format("{} {};",
                         tensor.dtype == DType::kBool ? "bool"
                         : is_float(tensor.dtype)     ? type
                                                      : "int64_t",
                         name));
      } else if (bytes <= kStackBytes) {
        line(fmt::format("alignas(64) {} {}[{}];", type, name, count));
      } else {
        line(fmt::format("{0}* {1} = ({0}*)(thread_heap + {2});", type, name, thread_bytes));
        thread_bytes +=
            (bytes + 63) / 64 * 64 + 64;  // lines apart, so that rows of equal length do not meet in one set
      }
    }
    statement(s->body[0]);
  }

  void store(const Stmt& s) {
    const CppScope at = scope();
    const CppValue value = cpp_value(at, s->value);
    lines_of(value);
    const bool stream = s->stream && streams_well(s);
    line(store_text(at, nest_.tensors.at(s->tensor), s->view, s->position, value, s->value->type, stream));
  }

  // Rows begin on whole lines, so that every vector stored past the caches is aligned.
  bool streams_well(const Stmt& s) const {
    if (lanes_.empty()) return false;
    const Expr flat = flat_position(s->view, s->position);
    if (flat->op == Op::kVar) return true;
    if (flat->op != Op::kAffine || flat->integer % 16 != 0) return false;
    for (std::size_t i = 0; i < flat->args.size(); ++i) {
      if (flat->args[i]->op == Op::kVar && flat->args[i]->name == lanes_) continue;
      if (flat->coefs[i] % 16 != 0) return false;
    }
    return true;
  }

  void update(const Stmt& s) {
    const CppScope at = scope();
    const auto found = accumulators_.find(s.get());
    if (found != accumulators_.end() && found->second.lanes) {
      const CppValue value = cpp_value(at, s->value);
      lines_of(value);
      const std::string text = value.uniform ? fmt::format("set<F>({})", value.text) : value.text;
      return line(fmt::format("{}.take({}, {});", found->second.name,
                              lanes_.empty() ? "Lane<float, 0>()" : "lane", text));
    }
    const CppValue value = cpp_value(at, s->value);
    lines_of(value);
    const std::string now = found != accumulators_.end() ? found->second.name : current(s);
    CppValue result{{}, combined_text(s->combine, now, value, s->value->type), lanes_.empty()};
    if (found != accumulators_.end()) return line(fmt::format("{} = {};", now, result.text));
    line(store_text(at, nest_.tensors.at(s->tensor), s->view, s->position, result, s->value->type, false));
  }

  std::string combined_text(Combine combine, const std::string& now, const CppValue& value, Type type) {
    const std::string lanes =
        value.uniform && !lanes_.empty() ? fmt::format("set<F>({})", value.text) : value.text;
    if (combine == Combine::kSum) return fmt::format("{} + {}", now, bracket(lanes));
    if (combine == Combine::kProduct) return fmt::format("{} * {}", now, bracket(lanes));
    const bool larger = combine == Combine::kMax;
    if (type == Type::kInt || type == Type::kBool)
      return fmt::format("std::{}<int64_t>({}, {})", larger ? "max" : "min", now, lanes);
    if (type == Type::kDouble)
      return fmt::format("({1} != {1} || {1} {2} {0} ? {1} : {0})", now, bracket(lanes), larger ? ">" : "<");
    used_.insert("maximum");
    return fmt::format("{}<{}>({}, {})", larger ? "maximum" : "minimum", lanes_.empty() ? "float" : "F", now,
                       lanes);
  }
  static std::string bracket(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  // A running sum or product along lanes: prefixes inside of a vector, and the total carried on.
  bool scan_lanes(const Stmt& s, const Stmt& init) {
    const auto& body = s->body[0]->body;
    const bool exclusive = body[0]->kind == Kind::kStore;
    const Stmt& update = exclusive ? body[1] : body[0];
    const Stmt& store = exclusive ? body[0] : body[1];
    if (nest_.tensors.at(store->tensor).dtype != DType::kFloat32 || update->value->type != Type::kFloat ||
        s->extent < 16)
      return false;
    if (update->combine != Combine::kSum && update->combine != Combine::kProduct) return false;
    if (store->value->op != Op::kLoad || store->value->name != update->tensor) return false;
    bool linear = true;
    const std::int64_t step = coefficient(flat_position(store->view, store->position), s->name, &linear);
    if (!linear || (step != 1 && step != -1) || !has_lanes(scope(), update->value, s->name)) return false;
    const std::string neutral = identity_text(update->combine, Type::kFloat), how = how_of(update->combine);
    used_.insert({"prefix", "accumulators", "along"});
    const std::string carry = fmt::format("carry{}", ++counter_);
    line(fmt::format("float {} = {};", carry, init ? neutral : current(update)));
    line(fmt::format("along<1>({}, [&](auto lane, long {}) __attribute__((always_inline)) {{", s->extent,
                     s->name));
    ++depth_;
    lanes_ = s->name;
    line("using F = typename decltype(lane)::F;");
    const CppScope at = scope();
    const CppValue value = cpp_value(at, update->value);
    lines_of(value);
    line(fmt::format("const F x = {};", value.uniform ? fmt::format("set<F>({})", value.text) : value.text));
    const std::string address = address_text(at, store->tensor, store->view, store->position);
    line("if constexpr (sizeof(F) == 4) {");
    line(fmt::format("  const float next = {}::of({}, x);", how, carry));
    line(fmt::format("  *({}) = {};", address, exclusive ? carry : "next"));
    line(fmt::format("  {} = next;", carry));
    line("} else {");
    line(fmt::format("  const F sums = {}::of(prefix<{}>(x, {}), set<F>({}));", how, how, neutral, carry));
    std::string stored = "sums";
    if (exclusive) {
      line("  IVec up;");
      line("  for (int l = 0; l < kLanes; ++l) up[l] = l == 0 ? int(kLanes) : l - 1;");
      line(fmt::format("  const F before = __builtin_shuffle(sums, set<F>({}), up);", carry));
      stored = "before";
    }
    if (step == 1) {
      line(fmt::format("  store({}, {});", address, stored));
    } else {
      line("  IVec turn;");
      line("  for (int l = 0; l < kLanes; ++l) turn[l] = int(kLanes) - 1 - l;");
      line(fmt::format("  store({} - (kLanes - 1), __builtin_shuffle({}, turn));", address, stored));
    }
    line(fmt::format("  {} = sums[kLanes - 1];", carry));
    line("}");
    lanes_.clear();
    --depth_;
    line("});");
    return true;
  }

  const Nest& nest_;
  std::set<std::string>& used_;
  int& counter_;
  std::string text_;
  int depth_ = 1;
  bool team_ = false, collapsing_ = false;
  std::string lanes_;  // name of the vector loop around, where it is written with vectors
  Stmt initial_;       // a store of a neutral element that was left out
  std::map<const StmtNode*, Accumulator> accumulators_;
};

bool any_parallel(const Nest& nest) {
  bool found = false;
  visit(nest.root, [&](const StmtNode& n) {
    found |= n.run == Run::kParallel || (n.handwritten && n.handwritten->parallel);
  });
  return found;
}
bool streams(const Nest& nest) {
  bool found = false;
  visit(nest.root, [&](const StmtNode& n) { found |= n.stream; });
  return found;
}

std::string constants_text(const Nest& nest) {
  std::string text;
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.where != Where::kConstant) continue;
    bool is_used = false;
    visit(nest.root, [&](const StmtNode& n) { is_used |= n.value && tensors_of(n.value).contains(name); });
    visit(nest.root, [&](const StmtNode& n) {
      for (const Expr& e : n.position) is_used |= tensors_of(e).contains(name);
      if (n.handwritten)
        is_used |= std::count(n.handwritten->reads.begin(), n.handwritten->reads.end(), name) > 0;
    });
    if (!is_used) continue;
    text += fmt::format("alignas(64) static const {} {}[{}] = {{", c_type_of(tensor.dtype), name,
                        element_count(tensor.shape));
    if (is_float(tensor.dtype) && tensor.dtype != DType::kBFloat16) {
      for (double v : tensor.constant->as_double())
        text += literal(v, tensor.dtype == DType::kFloat64 ? Type::kDouble : Type::kFloat) + ", ";
    } else if (tensor.dtype == DType::kBFloat16) {
      for (double v : tensor.constant->as_double()) text += fmt::format("{}, ", bf16_from_double(v));
    } else {
      for (std::int64_t v : tensor.constant->as_int64())
        text += v == INT64_MIN ? "INT64_MIN, " : fmt::format("{}, ", v);
    }
    text += "};\n";
  }
  return text;
}

// Bytes of temporaries that lie in memory.
struct Field {
  std::string type, name;
  std::int64_t bytes = 0;
};
std::vector<Field> fields_of(const CppProgram& program) {
  std::vector<Field> fields;
  std::set<std::string> seen;
  for (const Nest* nest : {&program.prepared, &program.nest}) {
    if (!nest->root) continue;
    auto touched = writes_of(nest->root);
    touched.merge(reads_of(nest->root));
    for (const auto& [name, tensor] : nest->tensors)
      if (tensor.where == Where::kTemporary && tensor.c_name != "local" &&
          (touched.contains(name) || !program.foreign.empty()) && seen.insert(name).second)
        fields.push_back({std::string(c_type_of(tensor.dtype)), name,
                          std::max<std::int64_t>(1, element_count(tensor.shape)) *
                              static_cast<std::int64_t>(size_of(tensor.dtype))});
  }
  for (const ForeignPart& part : program.foreign)
    for (const auto& buffer : part.buffers)
      fields.push_back({"float", buffer.name, std::max<std::int64_t>(1, buffer.floats) * 4});
  return fields;
}

std::string parameter_list(const Problem& problem, bool params, bool others) {
  std::string text;
  for (const Argument& argument : problem.arguments) {
    const bool is_param = argument.role == ArgumentRole::kParam;
    if (is_param ? !params : !others) continue;
    const bool constant = argument.role == ArgumentRole::kInput || is_param;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}{}* __restrict {}", constant ? "const " : "", c_type_of(argument.dtype),
                        argument.c_name);
  }
  return text;
}

}  // namespace

std::string emit_cpp(const CppProgram& program) {
  const Problem& problem = *program.problem;
  std::set<std::string> used;
  int counter = 0;
  const auto fields = fields_of(program);
  const bool trio = !fields.empty();
  const bool team = any_parallel(program.nest);

  // The body of a call: nests, and between them the parts of other generators.
  std::string body;
  std::int64_t thread_bytes = 0;
  std::size_t done = 0;
  const std::size_t total = program.nest.root->body.size();
  auto nests_until = [&](std::size_t end) {
    if (end <= done) return;
    NestWriter writer(program.nest, used, counter);
    writer.thread_bytes = thread_bytes;
    const std::string text = writer.write(done, end, team);
    const bool heap = writer.thread_bytes > thread_bytes || text.find("thread_heap") != std::string::npos;
    thread_bytes = std::max(thread_bytes, writer.thread_bytes);
    if (team) body += "#pragma omp parallel\n  {\n";
    const std::string indent = team ? "    " : "  ";
    if (heap)
      body += indent + (team ? "char* thread_heap = s.heaps + omp_get_thread_num() * kThreadBytes;\n"
                             : "char* thread_heap = s.heaps;\n");
    body += text;
    if (streams(program.nest)) body += indent + "stream_end();\n";
    if (streams(program.nest)) used.insert("stream");
    if (team) body += "  }\n";
    done = end;
  };
  std::string definitions, foreign_prepare;
  for (const ForeignPart& part : program.foreign) {
    used.insert(part.used.begin(), part.used.end());
    nests_until(part.before);
    body += part.call;
    definitions += part.definitions;
    foreign_prepare += part.prepare;
  }
  nests_until(total);

  std::string prepared;
  if (program.prepared.root && !program.prepared.root->body.empty()) {
    NestWriter writer(program.prepared, used, counter);
    prepared = writer.write(0, program.prepared.root->body.size(), false);
  }

  std::string text = fmt::format("// {}\n//\n", problem.name);
  for (const std::string& reason : program.comment) text += "// " + reason + "\n";
  if (program.arithmetic != "fp32") text += fmt::format("// kforge: arithmetic {}\n", program.arithmetic);
  text +=
      "#include <immintrin.h>\n#include <omp.h>\n\n#include <algorithm>\n#include <cmath>\n#include "
      "<cstdint>\n#include <cstdlib>\n#include <cstring>\n#include <utility>\n\n#include "
      "\"task.h\"\n\nnamespace {\n";
  text += prelude(used);
  text +=
      "\n" + constants_text(program.nest) + (program.prepared.root ? constants_text(program.prepared) : "");
  const bool needs_state = trio || thread_bytes > 0;
  if (thread_bytes > 0)
    text += fmt::format("constexpr long kThreadBytes = {};\n", (thread_bytes + 4095) / 4096 * 4096 + 64);
  if (needs_state) {
    text +=
        "\n// Memory that outlives a call: intermediate tensors, and what depends on params only.\nstruct "
        "State {\n";
    for (const Argument& argument : problem.arguments)
      if (argument.role == ArgumentRole::kParam)
        text += fmt::format("  const {}* {};\n", c_type_of(argument.dtype), argument.c_name);
    for (const Field& field : fields) text += fmt::format("  {}* {};\n", field.type, field.name);
    if (thread_bytes > 0) text += "  char* heaps;\n";
    text +=
        "};\n\nvoid* allocated(size_t bytes) {\n  const size_t whole = (bytes + 4095) / 4096 * 4096;\n  "
        "void* p = std::aligned_alloc(4096, whole);\n  if (p) std::memset(p, 0, whole);  // pages are "
        "touched here, not in the first call\n  return p;\n}\n";
  }
  text += "\n}  // namespace\n\n" + definitions;
  if (!needs_state) {
    text += fmt::format("extern \"C\" void kernel({}) {{\n{}}}\n", parameter_list(problem, true, true), body);
    return text;
  }
  text +=
      fmt::format("extern \"C\" void* prepare({}) {{\n  State* state = new State();\n  State& s = *state;\n",
                  parameter_list(problem, true, false));
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam) text += fmt::format("  s.{0} = {0};\n", argument.c_name);
  for (const Field& field : fields)
    text += fmt::format("  {0}* {1} = s.{1} = ({0}*)allocated({2});\n", field.type, field.name, field.bytes);
  if (thread_bytes > 0) text += "  s.heaps = (char*)allocated(omp_get_max_threads() * kThreadBytes);\n";
  for (const Field& field : fields) text += fmt::format("  (void){};\n", field.name);
  text += prepared + foreign_prepare + "  return state;\n}\n\n";
  const std::string others = parameter_list(problem, false, true);
  text += fmt::format("extern \"C\" void kernel_prepared(void* state{}{}) {{\n  State& s = *(State*)state;\n",
                      others.empty() ? "" : ", ", others);
  for (const Argument& argument : problem.arguments)
    if (argument.role == ArgumentRole::kParam)
      text += fmt::format("  const {0}* __restrict {1} = s.{1};\n  (void){1};\n", c_type_of(argument.dtype),
                          argument.c_name);
  for (const Field& field : fields)
    text += fmt::format("  {0}* __restrict {1} = s.{1};\n  (void){1};\n", field.type, field.name);
  text += body + "}\n\nextern \"C\" void release(void* state) {\n  State& s = *(State*)state;\n";
  for (const Field& field : fields) text += fmt::format("  std::free(s.{});\n", field.name);
  if (thread_bytes > 0) text += "  std::free(s.heaps);\n";
  text += "  delete &s;\n}\n";
  return text;
}

}  // namespace kforge::smith
