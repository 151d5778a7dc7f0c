// One expression as C++: for a single element, or for all lanes of a vector at once; what has no vector form
// is computed lane by lane.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "smith/emit/cpp_expr.h"
#include "smith/emit/cpp_spelling.h"

namespace kforge::smith {
namespace {

class Writer {
 public:
  Writer(const CppScope& scope, const Expr& root) : scope_(scope) { count(root); }

  struct Part {
    std::string text;
    bool uniform = true;
  };

  Part value(const Expr& e) {
    const bool shared = uses_[e.get()] > 1 && !is_position(e) && e->op != Op::kNumber;
    if (shared || (e->op == Op::kLoad && !inline_)) {
      if (const auto found = named_.find(e.get()); found != named_.end()) return found->second;
      Part part = fresh(e);
      if (inline_ || (e->op == Op::kLoad && is_atom(part.text))) return part;
      const std::string name =
          fmt::format("{}{}", e->op == Op::kLoad ? e->name + "_" : std::string("t"), ++*scope_.counter);
      lines.push_back(fmt::format("const auto {} = {};", name, part.text));
      part.text = name;
      named_[e.get()] = part;
      return part;
    }
    return fresh(e);
  }
  std::string lanes(const Part& part, Type type) {
    if (!part.uniform || scope_.lane_variable.empty()) return part.text;
    if (type == Type::kBool) return part.text;
    return fmt::format("set<F>({})", part.text);
  }

  std::vector<std::string> lines;

 private:
  void count(const Expr& e) {
    if (++uses_[e.get()] > 1) return;
    for (const Expr& arg : e->args) count(arg);
  }
  void need(std::string_view header) {
    if (!header.empty()) scope_.used->insert(std::string(header));
  }
  bool uniform(const Expr& e) const { return scope_.lane_variable.empty() || !uses(e, scope_.lane_variable); }

  // Lane by lane: the same expression with the variable moved on.
  Part one_by_one(const Expr& e) {
    CppScope scalar = scope_;
    const std::string v = scope_.lane_variable;
    scalar.lane_variable.clear();
    const auto found = scalar.variables.find(v);
    scalar.variables[v] = fmt::format("({} + lane_)", found == scalar.variables.end() ? v : found->second);
    Writer writer(scalar, e);
    writer.inline_ = true;
    const std::string text = writer.value(e).text;
    need("vectors/lanes.h");
    return {fmt::format("{}<F>([&](long lane_) {{ return {}; }})",
                        e->type == Type::kBool ? "each_mask" : "each", text),
            false};
  }

  Part load_part(const Expr& e) {
    const TensorInfo& tensor = scope_.tensors->at(e->name);
    if (is_scalar_local(tensor)) return {e->name, true};
    const bool same_everywhere = uniform(e);
    const std::string address = address_text(scope_, e->name, e->coefs, e->args);
    if (same_everywhere) {
      const std::string element = fmt::format("{}", bracketed_index(e));
      switch (tensor.dtype) {
        case DType::kBFloat16:
          need("memory/bf16.h");
          return {fmt::format("load_bf16<float>({})", address), true};
        case DType::kFloat16:
          return {fmt::format("float({})", element), true};
        case DType::kBool:
          return {fmt::format("({} != 0)", element), true};
        case DType::kFloat32:
        case DType::kFloat64:
          return {element, true};
        default:
          return {fmt::format("int64_t({})", element), true};
      }
    }
    bool linear = true;
    const std::int64_t step = coefficient(flat_position(e->coefs, e->args), scope_.lane_variable, &linear);
    if (linear && step == 1) {
      switch (tensor.dtype) {
        case DType::kFloat32:
          return {fmt::format("load<F>({})", address), false};
        case DType::kBFloat16:
          need("memory/bf16.h");
          return {fmt::format("load_bf16<F>({})", address), false};
        case DType::kFloat16:
          need("memory/f16.h");
          return {fmt::format("load_f16<F>({})", address), false};
        case DType::kBool:
          need("memory/masks.h");
          return {fmt::format("load_mask<F>({})", address), false};
        default:
          break;
      }
    }
    if (linear && tensor.dtype == DType::kFloat32) {
      if (step == -1) {
        need("memory/strided.h");
        return {fmt::format("backward<F>({})", address), false};
      }
      need("memory/strided.h");
      return {fmt::format("strided<F, {}>({})", step, address), false};
    }
    return one_by_one(e);
  }
  std::string bracketed_index(const Expr& e) {
    return fmt::format("{}[{}]", e->name, position_text(scope_, flat_position(e->coefs, e->args)));
  }

  Part cast_part(const Expr& e) {
    const Expr& from = e->args[0];
    const bool lanes_differ = !uniform(e);
    if (lanes_differ && e->dtype == DType::kFloat32 && is_position(from)) {
      bool linear = true;
      const std::int64_t step = coefficient(from, scope_.lane_variable, &linear);
      if (!linear) return one_by_one(e);
      need("vectors/positions.h");
      return {fmt::format("to_float(positions<F>({}, {}))", position_text(scope_, from), step), false};
    }
    if (lanes_differ && e->dtype == DType::kFloat32 && from->op == Op::kLoad && from->type == Type::kInt) {
      bool linear = true;
      const std::int64_t step =
          coefficient(flat_position(from->coefs, from->args), scope_.lane_variable, &linear);
      if (!linear || step != 1) return one_by_one(e);
      need("memory/integers.h");
      return {fmt::format("load_int<F>({})", address_text(scope_, from->name, from->coefs, from->args)),
              false};
    }
    if (lanes_differ && e->dtype == DType::kFloat32 && from->type == Type::kBool) {
      const Part c = value(from);
      return {fmt::format("pick({}, set<F>(1.0f), set<F>(0.0f))", c.text), false};
    }
    if (lanes_differ) return one_by_one(e);
    const std::string text = value(from).text;
    const bool floating = from->type == Type::kFloat || from->type == Type::kDouble;
    switch (e->dtype) {
      case DType::kFloat32:
        return {fmt::format("float({})", text), true};
      case DType::kFloat64:
        return {fmt::format("double({})", text), true};
      case DType::kFloat16:
        return {fmt::format("float(_Float16({}))", text), true};
      case DType::kBFloat16:
        need("math/round_bf16.h");
        return {fmt::format("to_bf16(float({}))", text), true};
      case DType::kBool:
        return {fmt::format("({} != 0)", text), true};
      default:
        break;
    }
    if (floating) need("math/whole.h");
    const std::string whole = floating ? fmt::format("whole({})", text) : fmt::format("int64_t({})", text);
    if (e->dtype == DType::kInt64) return {whole, true};
    return {fmt::format("int64_t({}({}))", c_type_of(e->dtype), whole), true};
  }

  Part select_part(const Expr& e) {
    if (e->op == Op::kGuard) {
      if (!uniform(e->args[0])) return one_by_one(e);
      const bool was = inline_;
      const Part condition = value(e->args[0]);
      inline_ = true;  // nothing of the branches may be computed before the condition is known
      const Part a = value(e->args[1]), b = value(e->args[2]);
      inline_ = was;
      if (a.uniform && b.uniform)
        return {fmt::format("({} ? {} : {})", condition.text, a.text, b.text), true};
      return {fmt::format("({} ? {} : {})", condition.text, lanes(a, e->type), lanes(b, e->type)), false};
    }
    const Part c = value(e->args[0]), a = value(e->args[1]), b = value(e->args[2]);
    if (c.uniform && a.uniform && b.uniform)
      return {fmt::format("({} ? {} : {})", c.text, a.text, b.text), true};
    if (e->type != Type::kFloat) return one_by_one(e);
    return {fmt::format("pick({}, {}, {})", c.text, lanes(a, e->type), lanes(b, e->type)), false};
  }

  Part compare_positions(const Expr& e) {
    const Expr difference = plus(e->args[0], times(e->args[1], -1));
    bool linear = true;
    const std::int64_t step = coefficient(difference, scope_.lane_variable, &linear);
    if (!linear) return one_by_one(e);
    need("vectors/positions.h");
    return {
        fmt::format("(positions<F>({}, {}) {} 0)", position_text(scope_, difference), step, infix_of(e->op)),
        false};
  }

  Part extreme_part(const Expr& e) {
    const Part a = value(e->args[0]), b = value(e->args[1]);
    const bool larger = e->op == Op::kMax, same_everywhere = a.uniform && b.uniform;
    if (e->type != Type::kFloat) {
      const std::string type = c_type(e->type);
      if (e->type == Type::kInt)
        return {fmt::format("std::{}<int64_t>({}, {})", larger ? "max" : "min", a.text, b.text), true};
      return {fmt::format("({0} != {0} || {0} {2} {1} ? {0} : {1})", bracketed(a.text), bracketed(b.text),
                          larger ? ">" : "<"),
              true};
    }
    for (int swap = 0; swap < 2; ++swap) {
      const Expr& limit = e->args[static_cast<std::size_t>(1 - swap)];
      if (limit->op != Op::kNumber || std::isnan(limit->number)) continue;
      need("vectors/extrema.h");
      return {fmt::format("{}({}, {})", larger ? "at_least" : "at_most", swap ? b.text : a.text,
                          literal(limit->number, Type::kFloat)),
              same_everywhere};
    }
    need("vectors/extrema.h");
    if (same_everywhere)
      return {fmt::format("{}<float>({}, {})", larger ? "maximum" : "minimum", a.text, b.text), true};
    return {fmt::format("{}({}, {})", larger ? "maximum" : "minimum", lanes(a, e->type), lanes(b, e->type)),
            false};
  }

  // The exponential of what is cut far below its overflow is cheaper.
  static bool is_low(const Expr& e) {
    if (e->op != Op::kMin || e->type != Type::kFloat) return false;
    return std::ranges::any_of(e->args,
                               [](const Expr& a) { return a->op == Op::kNumber && a->number <= 60; });
  }

  Part call(std::string_view format, const std::vector<Part>& parts) {
    std::string text(format);
    bool all = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all &= parts[i].uniform;
      const std::string mark = fmt::format("{{{}}}", i);
      const std::string with =
          format.find('(') == std::string_view::npos || format[0] == '-' || format[0] == '('
              ? bracketed(parts[i].text)
              : parts[i].text;
      for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += with.size())
        text.replace(at, mark.size(), with);
    }
    return {text, all};
  }

  Part fresh(const Expr& e) {
    if (is_position(e) && e->op != Op::kNumber) {
      if (!uniform(e)) return one_by_one(e);
      return {position_text(scope_, e), true};
    }
    switch (e->op) {
      case Op::kNumber:
        return {e->type == Type::kInt || e->type == Type::kBool ? fmt::format("{}", e->integer)
                                                                : literal(e->number, e->type),
                true};
      case Op::kLoad:
        return load_part(e);
      case Op::kCast:
        return cast_part(e);
      case Op::kSelect:
      case Op::kGuard:
        return select_part(e);
      case Op::kMax:
      case Op::kMin:
        return extreme_part(e);
      case Op::kNot: {
        const Part a = value(e->args[0]);
        return {fmt::format("(!{})", bracketed(a.text)), a.uniform};
      }
      case Op::kIsNan: {
        const Part a = value(e->args[0]);
        return {fmt::format("({0} != {0})", bracketed(a.text)), a.uniform};
      }
      case Op::kMod:
        need("math/whole.h");
        return e->type == Type::kInt || uniform(e)
                   ? call(e->type == Type::kInt ? "floor_mod(int64_t({0}), int64_t({1}))"
                                                : "float(floor_mod(double({0}), double({1})))",
                          {value(e->args[0]), value(e->args[1])})
                   : one_by_one(e);
      case Op::kFmod:
        if (e->type == Type::kInt) return call("(({0}) % ({1}))", {value(e->args[0]), value(e->args[1])});
        return uniform(e) ? call("std::fmod({0}, {1})", {value(e->args[0]), value(e->args[1])})
                          : one_by_one(e);
      case Op::kPow:
        if (e->type == Type::kInt) need("math/whole.h");
        if (e->type == Type::kInt) return call("int_power({0}, {1})", {value(e->args[0]), value(e->args[1])});
        return uniform(e) ? call("std::pow({0}, {1})", {value(e->args[0]), value(e->args[1])})
                          : one_by_one(e);
      case Op::kBitNot:
        return call("(~{0})", {value(e->args[0])});
      case Op::kShiftLeft:
        return call("({1} >= 64 ? 0 : int64_t(uint64_t({0}) << {1}))",
                    {value(e->args[0]), value(e->args[1])});
      case Op::kShiftRight:
        return call("({1} >= 64 ? 0 : int64_t(uint64_t({0}) >> {1}))",
                    {value(e->args[0]), value(e->args[1])});
      case Op::kAbs:
        if (e->type == Type::kInt) return call("({0} < 0 ? -{0} : {0})", {value(e->args[0])});
        break;
      default:
        break;
    }
    if (const std::string_view infix = infix_of(e->op); !infix.empty()) {
      if (!uniform(e) && (e->args[0]->type == Type::kInt || e->args[1]->type == Type::kInt)) {
        if (is_position(e->args[0]) && is_position(e->args[1])) return compare_positions(e);
        return one_by_one(e);
      }
      const Part a = value(e->args[0]), b = value(e->args[1]);
      const bool logic =
          e->type == Type::kBool && e->args[0]->type == Type::kBool && (a.uniform != b.uniform);
      if (logic) return one_by_one(e);  // a condition of all lanes and one of each
      const std::string text = fmt::format("{} {} {}", bracketed(a.text), infix, bracketed(b.text));
      if (e->type == Type::kBool)
        return {"(" +
                    (e->op == Op::kAnd && a.uniform && b.uniform
                         ? fmt::format("{} && {}", bracketed(a.text), bracketed(b.text))
                         : text) +
                    ")",
                a.uniform && b.uniform};
      return {text, a.uniform && b.uniform};
    }
    const Part a = value(e->args[0]);
    if (e->type == Type::kDouble || e->type == Type::kInt) return call(double_spelling(e->op), {a});
    const Spelling spelling = e->op == Op::kExp && is_low(e->args[0])
                                  ? Spelling{"exp_low({0})", "math/exp_low.h", true}
                                  : spelling_of(e->op);
    KF_CHECK(!spelling.text.empty(), "no spelling of {}", name_of(e->op));
    if (!spelling.lanes && !a.uniform) return one_by_one(e);
    need(spelling.header);
    return call(spelling.text, {a});
  }

  const CppScope& scope_;
  std::map<const ExprNode*, int> uses_;
  std::map<const ExprNode*, Part> named_;
  bool inline_ = false;
};

}  // namespace

CppValue cpp_value(const CppScope& scope, const Expr& e) {
  Writer writer(scope, e);
  const auto part = writer.value(e);
  return {writer.lines, part.text, part.uniform};
}

}  // namespace kforge::smith
