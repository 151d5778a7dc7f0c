#include "smith/emit/cpp_expr.h"

#include <cmath>

#include <fmt/format.h>

#include "smith/emit/cpp_spelling.h"

namespace kforge::smith {

bool is_scalar_local(const TensorInfo& tensor) {
  return tensor.where == TensorInfo::Where::kTemporary && tensor.c_name == "local" &&
         element_count(tensor.shape) == 1;
}

std::string c_type(Type type) {
  switch (type) {
    case Type::kFloat:
      return "float";
    case Type::kDouble:
      return "double";
    case Type::kInt:
      return "int64_t";
    case Type::kBool:
      return "bool";
  }
  return "float";
}

std::string literal(double value, Type type) {
  const bool single = type == Type::kFloat;
  if (std::isnan(value)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (single) value = static_cast<double>(static_cast<float>(value));
  if (std::isinf(value)) return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", single ? "f" : "");
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

std::string position_text(const CppScope& scope, const Expr& e) {
  switch (e->op) {
    case Op::kNumber:
      return fmt::format("{}", e->integer);
    case Op::kVar: {
      const auto found = scope.variables.find(e->name);
      return found == scope.variables.end() ? e->name : found->second;
    }
    case Op::kAffine: {
      std::string text;
      for (std::size_t i = 0; i < e->args.size(); ++i) {
        const std::int64_t c = e->coefs[i];
        text += i == 0 ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + ");
        text += position_text(scope, e->args[i]);
        if (std::abs(c) != 1) text += fmt::format(" * {}", std::abs(c));
      }
      if (e->integer != 0) text += fmt::format(" {} {}", e->integer < 0 ? "-" : "+", std::abs(e->integer));
      return text;
    }
    case Op::kDigit: {
      std::string text = bracketed(position_text(scope, e->args[0]));
      if (e->integer != 1) text += fmt::format(" / {}", e->integer);
      if (e->base != 0) text += fmt::format(" % {}", e->base);
      return "(" + text + ")";
    }
    default: {  // an index from memory
      CppScope scalar = scope;
      scalar.lane_variable.clear();
      const CppValue value = cpp_value(scalar, e);
      std::string text = value.text;
      if (!value.lines.empty()) {
        std::string body;
        for (const std::string& line : value.lines) body += line + " ";
        text = fmt::format("[&] {{ {}return {}; }}()", body, value.text);
      }
      return bracketed(text);
    }
  }
}

std::string address_text(const CppScope& scope, const std::string& tensor, const Shape& view,
                         const std::vector<Expr>& position) {
  const std::string offset = position_text(scope, flat_position(view, position));
  return offset == "0" ? tensor : fmt::format("{} + {}", tensor, offset);
}

bool has_lanes(const CppScope&, const Expr& e, const std::string& variable) {
  bool good = e->type == Type::kFloat || e->type == Type::kBool;
  visit(e, [&](const ExprNode& node) { good &= node.type != Type::kDouble; });
  (void)variable;
  return good;
}

std::string store_text(const CppScope& scope, const TensorInfo& tensor, const Shape& view,
                       const std::vector<Expr>& position, const CppValue& value, Type type, bool stream) {
  if (is_scalar_local(tensor)) return fmt::format("{} = {};", tensor.name, value.text);
  const std::string address = address_text(scope, tensor.name, view, position);
  bool linear = true;
  const bool lanes = !scope.lane_variable.empty();
  const std::int64_t step =
      lanes ? coefficient(flat_position(view, position), scope.lane_variable, &linear) : 1;
  const std::string text =
      lanes && value.uniform && type == Type::kFloat ? fmt::format("set<F>({})", value.text) : value.text;
  if (!lanes) {
    switch (tensor.dtype) {
      case DType::kBFloat16:
        scope.used->insert("memory/bf16.h");
        return fmt::format("store_bf16({}, {});", address, value.text);
      case DType::kFloat16:
        scope.used->insert("memory/f16.h");
        return fmt::format("store_f16({}, {});", address, value.text);
      default:
        return fmt::format("{}[{}] = {};", tensor.name, position_text(scope, flat_position(view, position)),
                           value.text);
    }
  }
  KF_CHECK(linear && step == 1, "lanes of '{}' do not lie side by side", tensor.name);
  switch (tensor.dtype) {
    case DType::kBFloat16:
      scope.used->insert("memory/bf16.h");
      return fmt::format("store_bf16({}, {});", address, text);
    case DType::kFloat16:
      scope.used->insert("memory/f16.h");
      return fmt::format("store_f16({}, {});", address, text);
    case DType::kBool:
      scope.used->insert({"memory/masks.h", "vectors/lanes.h"});
      return fmt::format(
          "store_mask({}, {});", address,
          value.uniform ? fmt::format("each_mask<F>([&](long) {{ return {}; }})", value.text) : value.text);
    default:
      break;
  }
  if (stream) scope.used->insert("memory/stream.h");
  return fmt::format("{}({}, {});", stream ? "stream" : "store", address, text);
}

}  // namespace kforge::smith
