#include "smith/emit/cpp_spelling.h"

#include <cctype>

namespace kforge::smith {

Spelling spelling_of(Op op) {
  switch (op) {
    case Op::kNeg:
      return {"-{0}", "", true};
    case Op::kAbs:
      return {"magnitude({0})", "math/bits.h", true};
    case Op::kSqrt:
      return {"sqrt_of({0})", "math/sqrt.h", true};
    case Op::kExp:
      return {"exp_of({0})", "math/exp.h", true};
    case Op::kExpm1:
      return {"expm1_of({0})", "math/expm1.h", true};
    case Op::kLog:
      return {"log_of({0})", "math/log.h", true};
    case Op::kLog1p:
      return {"log1p_of({0})", "math/log1p.h", true};
    case Op::kErf:
      return {"erf_of({0})", "math/erf.h", true};
    case Op::kErfc:
      return {"erfc_of({0})", "math/erf.h", true};
    case Op::kNormalCdf:
      return {"normal_cdf({0})", "math/normal_cdf.h", true};
    case Op::kTanh:
      return {"tanh_of({0})", "math/tanh.h", true};
    case Op::kSigmoid:
      return {"sigmoid_of({0})", "math/sigmoid.h", true};
    case Op::kSoftplus:
      return {"softplus_of({0})", "math/softplus.h", true};
    case Op::kFloor:
      return {"floor_of({0})", "math/rounding.h", true};
    case Op::kCeil:
      return {"ceil_of({0})", "math/rounding.h", true};
    case Op::kRound:
      return {"round_of({0})", "math/rounding.h", true};
    case Op::kSin:
      return {"std::sin({0})", "", false};
    case Op::kCos:
      return {"std::cos({0})", "", false};
    case Op::kTan:
      return {"std::tan({0})", "", false};
    case Op::kAsin:
      return {"std::asin({0})", "", false};
    case Op::kAcos:
      return {"std::acos({0})", "", false};
    case Op::kAtan:
      return {"std::atan({0})", "", false};
    case Op::kSinh:
      return {"std::sinh({0})", "", false};
    case Op::kCosh:
      return {"std::cosh({0})", "", false};
    case Op::kAsinh:
      return {"std::asinh({0})", "", false};
    case Op::kAcosh:
      return {"std::acosh({0})", "", false};
    case Op::kAtanh:
      return {"std::atanh({0})", "", false};
    default:
      return {"", "", false};
  }
}

std::string_view double_spelling(Op op) {
  switch (op) {
    case Op::kNeg:
      return "-{0}";
    case Op::kAbs:
      return "std::fabs({0})";
    case Op::kSqrt:
      return "std::sqrt({0})";
    case Op::kExp:
      return "std::exp({0})";
    case Op::kExpm1:
      return "std::expm1({0})";
    case Op::kLog:
      return "std::log({0})";
    case Op::kLog1p:
      return "std::log1p({0})";
    case Op::kErf:
      return "std::erf({0})";
    case Op::kErfc:
      return "std::erfc({0})";
    case Op::kNormalCdf:
      return "(0.5 * std::erfc(-0.70710678118654752 * {0}))";
    case Op::kTanh:
      return "std::tanh({0})";
    case Op::kSigmoid:
      return "(1 / (1 + std::exp(-{0})))";
    case Op::kSoftplus:
      return "(std::fmax({0}, 0.0) + std::log1p(std::exp(-std::fabs({0}))))";
    case Op::kFloor:
      return "std::floor({0})";
    case Op::kCeil:
      return "std::ceil({0})";
    case Op::kRound:
      return "std::nearbyint({0})";
    default:
      return spelling_of(op).text;
  }
}

std::string_view infix_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kDiv:
      return "/";
    case Op::kEqual:
      return "==";
    case Op::kLess:
      return "<";
    case Op::kLessEqual:
      return "<=";
    case Op::kAnd:
      return "&";
    case Op::kOr:
      return "|";
    case Op::kXor:
      return "^";
    case Op::kBitAnd:
      return "&";
    case Op::kBitOr:
      return "|";
    case Op::kBitXor:
      return "^";
    default:
      return "";
  }
}

bool is_atom(const std::string& text) {
  for (char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') return false;
  return true;
}
std::string bracketed(const std::string& text) { return is_atom(text) ? text : "(" + text + ")"; }

}  // namespace kforge::smith
