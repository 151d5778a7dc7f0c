#include "smith/device/device_expr.h"

#include <cctype>

#include <fmt/format.h>

#include "smith/emit/cpp_spelling.h"

namespace kforge::smith {
namespace {

// An element of an array and a call need no brackets around them.
bool is_simple(const std::string& text) {
  if (is_atom(text)) return true;
  if (!std::isalpha(static_cast<unsigned char>(text[0])) || (text.back() != ']' && text.back() != ')'))
    return false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '(') ++depth;
    if ((c == ']' || c == ')') && --depth == 0 && i + 1 != text.size()) return false;
    if (depth == 0 && c == ' ') return false;
  }
  return true;
}
std::string in_brackets(const std::string& text) { return is_simple(text) ? text : "(" + text + ")"; }

std::string filled(std::string_view format, const std::vector<std::string>& parts) {
  std::string text(format);
  const bool bare = format.starts_with("-");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string mark = fmt::format("{{{}}}", i), with = bare ? in_brackets(parts[i]) : parts[i];
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += with.size())
      text.replace(at, mark.size(), with);
  }
  return text;
}

// Functions of kernels/device/, by operator.
std::string_view prelude_function(Op op) {
  switch (op) {
    case Op::kExpm1:
      return "expm1_of";
    case Op::kLog1p:
      return "log1p_of";
    case Op::kErf:
      return "erf_of";
    case Op::kErfc:
      return "erfc_of";
    case Op::kNormalCdf:
      return "normal_cdf";
    case Op::kTanh:
      return "tanh_of";
    case Op::kSigmoid:
      return "sigmoid_of";
    case Op::kSoftplus:
      return "softplus_of";
    case Op::kPow:
      return "power_of";
    case Op::kFmod:
      return "remainder_of";
    default:
      return "";
  }
}

class Writer {
 public:
  // `in_place`: shared parts are written again instead of named before.
  Writer(const DeviceScope& scope, const Expr& root, bool in_place = false)
      : scope_(scope), d_(*scope.dialect), inline_(in_place) {
    count(root);
  }

  std::vector<std::string> lines;

  std::string value(const Expr& e) {
    const bool shared = uses_[e.get()] > 1 && !is_position(e) && e->op != Op::kNumber;
    if (!shared || inline_) return fresh(e);
    if (const auto found = named_.find(e.get()); found != named_.end()) return found->second;
    std::string text = fresh(e);
    if (is_atom(text)) return text;
    const std::string name = fmt::format("t{}_", ++*scope_.counter);
    lines.push_back(fmt::format("const {} {} = {};", d_.type(e->type), name, text));
    return named_[e.get()] = name;
  }

 private:
  void count(const Expr& e) {
    if (++uses_[e.get()] > 1) return;
    for (const Expr& arg : e->args) count(arg);
  }
  std::string need(std::string_view piece) {
    scope_.used->insert(std::string(piece));
    return std::string(piece);
  }

  std::string load_text(const Expr& e) {
    if (const auto found = scope_.registers.find(e->name); found != scope_.registers.end())
      return found->second;
    const TensorInfo& tensor = scope_.tensors->at(e->name);
    std::string name = scope_.name(e->name);
    if (is_local(tensor) && element_count(tensor.shape) == 1) return name;
    const std::string at = index_text(scope_, flat_position(e->coefs, e->args));
    std::string element = fmt::format("{}[{}]", name, at);
    if (is_local(tensor)) return element;
    switch (tensor.dtype) {
      case DType::kFloat16:
        if (tensor.where == TensorInfo::Where::kConstant) return element;
        if (d_.language == DeviceLanguage::kOpenCl) return fmt::format("vload_half({}, {})", at, name);
        if (d_.language == DeviceLanguage::kCuda) return fmt::format("__half2float({})", element);
        return d_.cast("float", element);
      case DType::kBFloat16:
        if (tensor.where == TensorInfo::Where::kConstant) return element;
        return filled(d_.bits_float, {fmt::format("{} << 16", d_.cast("int", element))});
      case DType::kBool:
        return fmt::format("({} != 0)", element);
      case DType::kFloat32:
      case DType::kFloat64:
        return element;
      default:
        return d_.cast(d_.whole, element);
    }
  }

  std::string cast_text(const Expr& e) {
    const Expr& from = e->args[0];
    const bool floating = from->type == Type::kFloat || from->type == Type::kDouble;
    const std::string text =
        is_position(from) && from->op != Op::kNumber ? index_text(scope_, from) : value(from);
    switch (e->dtype) {
      case DType::kFloat32:
        return d_.cast("float", text);
      case DType::kFloat64:
        return d_.cast(Type::kDouble, text);
      case DType::kFloat16:
        return fmt::format("{}({})", need("round_half"), d_.cast("float", text));
      case DType::kBFloat16:
        return fmt::format("{}({})", need("round_bfloat"), d_.cast("float", text));
      case DType::kBool:
        return fmt::format("({} != {})", in_brackets(text),
                           floating                    ? d_.literal(0, from->type)
                           : from->type == Type::kBool ? "false"
                                                       : "0");
      default:
        break;
    }
    std::string wide =
        floating ? fmt::format("{}({})", need("whole_of"), d_.cast("float", text)) : d_.cast(d_.whole, text);
    if (e->dtype == DType::kInt64 || e->dtype == DType::kUInt64) return wide;
    return d_.cast(d_.whole, d_.cast(d_.stored.at(e->dtype), wide));
  }

  std::string compare(const Expr& e, std::string_view infix) {
    const bool positions = is_position(e->args[0]) && is_position(e->args[1]);
    auto side = [&](const Expr& x) { return in_brackets(positions ? index_text(scope_, x) : value(x)); };
    const std::string a = side(e->args[0]), b = side(e->args[1]);
    return fmt::format("({} {} {})", a, infix, b);
  }

  std::string guarded(const Expr& e) {
    const std::string condition = value(e->args[0]);
    const bool was = inline_;
    inline_ =
        inline_ || e->op == Op::kGuard;  // nothing of a branch may be read before the condition is known
    const std::string a = value(e->args[1]), b = value(e->args[2]);
    inline_ = was;
    return fmt::format("({} ? {} : {})", condition, a, b);
  }

  std::string fresh(const Expr& e) {
    if (is_position(e)) {
      if (e->op == Op::kNumber) return d_.whole_literal(e->integer);
      return d_.cast(d_.whole, index_text(scope_, e));
    }
    switch (e->op) {
      case Op::kNumber:
        if (e->type == Type::kBool) return e->integer != 0 ? "true" : "false";
        return d_.literal(e->number, e->type);
      case Op::kLoad:
        return load_text(e);
      case Op::kCast:
        return cast_text(e);
      case Op::kSelect:
      case Op::kGuard:
        return guarded(e);
      case Op::kMax:
      case Op::kMin:
        return combine_text(scope_, e->op == Op::kMax ? Combine::kMax : Combine::kMin, e->type,
                            value(e->args[0]), value(e->args[1]));
      case Op::kNot:
        return fmt::format("(!{})", in_brackets(value(e->args[0])));
      case Op::kIsNan: {
        const std::string a = in_brackets(value(e->args[0]));
        return fmt::format("({0} != {0})", a);
      }
      case Op::kEqual:
      case Op::kLess:
      case Op::kLessEqual:
        return compare(e, infix_of(e->op));
      case Op::kAnd:
        return compare(e, "&&");
      case Op::kOr:
        return compare(e, "||");
      case Op::kXor:
        return compare(e, "!=");
      case Op::kBitNot:
        return fmt::format("(~{})", in_brackets(value(e->args[0])));
      case Op::kMod:
        return fmt::format("{}({}, {})", need(e->type == Type::kInt ? "floor_mod" : "floor_remainder"),
                           value(e->args[0]), value(e->args[1]));
      case Op::kShiftLeft:
      case Op::kShiftRight:
        return fmt::format("{}({}, {})", need(e->op == Op::kShiftLeft ? "shifted_left" : "shifted_right"),
                           value(e->args[0]), value(e->args[1]));
      default:
        break;
    }
    if (e->type == Type::kInt) {
      if (e->op == Op::kPow)
        return fmt::format("{}({}, {})", need("whole_power"), value(e->args[0]), value(e->args[1]));
      if (e->op == Op::kFmod)
        return fmt::format("({} % {})", in_brackets(value(e->args[0])), in_brackets(value(e->args[1])));
      if (e->op == Op::kAbs) return fmt::format("{}({})", need("whole_magnitude"), value(e->args[0]));
    }
    if (const std::string_view infix = infix_of(e->op); !infix.empty())
      return fmt::format("{} {} {}", in_brackets(value(e->args[0])), infix, in_brackets(value(e->args[1])));
    std::vector<std::string> parts;
    for (const Expr& arg : e->args) parts.push_back(value(arg));
    // Doubles have functions of their own in OpenCL and CUDA only.
    const bool narrow = e->type == Type::kDouble && d_.language == DeviceLanguage::kGlsl && e->op != Op::kNeg;
    if (narrow)
      for (std::string& part : parts) part = d_.cast("float", part);
    std::string text;
    if (const auto found = d_.functions.find(e->op); found != d_.functions.end()) {
      text = filled(found->second, parts);
    } else {
      const std::string_view function = prelude_function(e->op);
      KF_CHECK(!function.empty(), "no spelling of {}", name_of(e->op));
      text = need(function) + "(" + parts[0] + (parts.size() > 1 ? ", " + parts[1] : "") + ")";
    }
    return narrow ? d_.cast("double", text) : text;
  }

  const DeviceScope& scope_;
  const Dialect& d_;
  std::map<const ExprNode*, int> uses_;
  std::map<const ExprNode*, std::string> named_;
  bool inline_;
};

}  // namespace

bool is_local(const TensorInfo& tensor) {
  return tensor.where == TensorInfo::Where::kTemporary && tensor.c_name == "local";
}

std::string element_type(const DeviceScope& scope, const TensorInfo& tensor) {
  return scope.dialect->type(type_for(tensor.dtype));
}

DeviceValue device_value(const DeviceScope& scope, const Expr& e) {
  Writer writer(scope, e);
  const std::string text = writer.value(e);
  return {writer.lines, text};
}

std::string index_text(const DeviceScope& scope, const Expr& e) {
  switch (e->op) {
    case Op::kNumber:
      return fmt::format("{}", e->integer);
    case Op::kVar:
      return scope.name(e->name);
    case Op::kAffine: {
      std::string text;
      for (std::size_t i = 0; i < e->args.size(); ++i) {
        const std::int64_t c = e->coefs[i];
        text += i == 0 ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
        text += index_text(scope, e->args[i]);
        if (std::abs(c) != 1) text += fmt::format(" * {}", std::abs(c));
      }
      if (e->integer != 0) text += fmt::format(" {} {}", e->integer < 0 ? "-" : "+", std::abs(e->integer));
      return text;
    }
    case Op::kDigit: {
      std::string text = in_brackets(index_text(scope, e->args[0]));
      if (e->integer != 1) text += fmt::format(" / {}", e->integer);
      if (e->base != 0) text += fmt::format(" % {}", e->base);
      return "(" + text + ")";
    }
    default: {  // an index from memory: written in place, since a guard may stand around it
      Writer writer(scope, e, true);
      const std::string text = writer.value(e);
      return scope.dialect->cast("int", text);
    }
  }
}

std::string combine_text(const DeviceScope& scope, Combine combine, Type type, const std::string& a,
                         const std::string& b) {
  if (combine == Combine::kSum) return fmt::format("{} + {}", a, in_brackets(b));
  if (combine == Combine::kProduct) return fmt::format("{} * {}", a, in_brackets(b));
  const bool larger = combine == Combine::kMax;
  const std::string piece = std::string(larger ? "larger" : "smaller") +
                            (type == Type::kInt || type == Type::kBool            ? "_whole"
                             : type == Type::kDouble && scope.dialect->has_double ? "_double"
                                                                                  : "");
  scope.used->insert(piece);
  return fmt::format("{}({}, {})", piece, a, b);
}

std::string identity_text(const DeviceScope& scope, Combine combine, Type type) {
  const Expr e = identity_of(combine, type);
  if (type == Type::kInt || type == Type::kBool) {
    if (combine == Combine::kMax) return scope.dialect->whole_literal(INT64_MIN);
    if (combine == Combine::kMin) return scope.dialect->whole_literal(INT64_MAX);
    return scope.dialect->whole_literal(e->integer);
  }
  return scope.dialect->literal(e->number, type);
}

std::string device_store(const DeviceScope& scope, const TensorInfo& tensor, const Shape& view,
                         const std::vector<Expr>& position, const std::string& value) {
  const Dialect& d = *scope.dialect;
  if (const auto found = scope.registers.find(tensor.name); found != scope.registers.end())
    return fmt::format("{} = {};", found->second, value);
  const std::string name = scope.name(tensor.name);
  if (is_local(tensor) && element_count(tensor.shape) == 1) return fmt::format("{} = {};", name, value);
  const std::string at = index_text(scope, flat_position(view, position));
  if (is_local(tensor)) return fmt::format("{}[{}] = {};", name, at, value);
  switch (tensor.dtype) {
    case DType::kFloat16:
      if (d.language == DeviceLanguage::kOpenCl)
        return fmt::format("vstore_half_rte({}, {}, {});", value, at, name);
      if (d.language == DeviceLanguage::kCuda)
        return fmt::format("{}[{}] = __float2half_rn({});", name, at, value);
      return fmt::format("{}[{}] = {};", name, at, d.cast(d.stored.at(DType::kFloat16), value));
    case DType::kBFloat16:
      scope.used->insert("bfloat_bits");
      return fmt::format("{}[{}] = {};", name, at,
                         d.cast(d.stored.at(DType::kBFloat16), fmt::format("bfloat_bits({})", value)));
    case DType::kBool:
      return fmt::format("{}[{}] = {};", name, at,
                         d.cast(d.stored.at(DType::kBool), fmt::format("{} ? 1 : 0", in_brackets(value))));
    case DType::kFloat32:
    case DType::kFloat64:
      return fmt::format("{}[{}] = {};", name, at, value);
    default:
      return fmt::format("{}[{}] = {};", name, at, d.cast(d.stored.at(tensor.dtype), value));
  }
}

}  // namespace kforge::smith
