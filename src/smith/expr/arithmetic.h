// Arithmetic on expressions, by short names.
#pragma once

#include "smith/expr/expr.h"

namespace kforge::smith {

inline Expr num(double v, const Expr& like) { return number(v, like->type); }
inline Expr add(const Expr& a, const Expr& b) { return binary(Op::kAdd, a, b); }
inline Expr sub(const Expr& a, const Expr& b) { return binary(Op::kSub, a, b); }
inline Expr mul(const Expr& a, const Expr& b) { return binary(Op::kMul, a, b); }
inline Expr div(const Expr& a, const Expr& b) { return binary(Op::kDiv, a, b); }
inline Expr square(const Expr& a) { return mul(a, a); }

}  // namespace kforge::smith
