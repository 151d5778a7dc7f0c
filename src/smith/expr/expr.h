// Scalar expressions: what one element of a tensor is made of. Immutable and shared. Integer expressions that
// compute positions are kept in one canonical form (affine sums of variables and digits), so that the address
// arithmetic of transposes, reshapes and slices cancels out by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace kforge::smith {

// What arithmetic is done in. float16 and bfloat16 are computed in float, every integer type in 64 bits.
enum class Type : std::uint8_t { kFloat, kDouble, kInt, kBool };
Type type_for(DType dtype);

// Structure first, then operations on values. The table in expr.cc has the name and arity of each.
enum class Op : std::uint8_t {
  kNumber,  // `number` (or `integer`)
  kVar,     // a loop variable: 0 <= name < extent
  kAffine,  // constant + sum of coefs[i] * args[i]
  kDigit,   // (args[0] / low) % base; base 0: no remainder is taken
  kLoad,    // tensor `name` at position args in a view of it with dimensions `view`
  kCast,    // args[0] as an element of `dtype` (rounded, wrapped around)
  kSelect,  // args[0] ? args[1] : args[2], where both may be evaluated
  kGuard,   // the same where args[1] may only be evaluated if args[0] holds, and args[2] only if not
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFmod,
  kPow,
  kMax,
  kMin,
  kEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kNot,
  kBitNot,
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kSqrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kErf,
  kErfc,
  kNormalCdf,  // of the normal distribution: what GELU multiplies by
  kTanh,
  kSigmoid,
  kSoftplus,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kIsNan,
  kIsInf,
};
std::string_view name_of(Op op);

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

struct ExprNode {
  Op op = Op::kNumber;
  Type type = Type::kFloat;
  double number = 0;
  std::int64_t integer = 0;         // kNumber of kInt; constant of kAffine; extent of kVar; low of kDigit
  std::int64_t base = 0;            // kDigit
  std::string name;                 // kVar, kLoad
  std::vector<std::int64_t> coefs;  // kAffine; view of kLoad
  DType dtype = DType::kFloat32;    // kLoad: element type in memory; kCast: target
  std::vector<Expr> args;
};

Expr number(double value, Type type = Type::kFloat);
Expr integer(std::int64_t value);
Expr variable(const std::string& name, std::int64_t extent);
Expr load(const std::string& tensor, DType dtype, Shape view, std::vector<Expr> position);
Expr cast(Expr value, DType to);
Expr select(Expr condition, Expr a, Expr b);
Expr guard(Expr condition, Expr inside, Expr outside);
Expr unary(Op op, Expr a);
Expr binary(Op op, Expr a, Expr b);

// Positions. Results are canonical.
Expr plus(const Expr& a, const Expr& b);
Expr plus(const Expr& a, std::int64_t b);
Expr times(const Expr& a, std::int64_t factor);
Expr digit(const Expr& a, std::int64_t low, std::int64_t base);  // (a / low) % base
Expr flat_position(const Shape& view, const std::vector<Expr>& position);
std::vector<Expr> unflatten(const Expr& flat, const Shape& shape);
// 0 <= position < size; null where that always holds.
Expr inside(const Expr& position, std::int64_t size);
Expr both(const Expr& a, const Expr& b);  // either may be null (true)

struct Range {
  std::int64_t low = 0, high = 0;  // inclusive
};
Range range_of(const Expr& position);  // REQUIRES: a position (kAffine, kDigit, kVar, kNumber of kInt)
bool is_position(const Expr& e);
bool is_constant(const Expr& e, std::int64_t* value);
// Coefficient of a variable in a position; `linear` becomes false where it stands inside of a digit or load.
std::int64_t coefficient(const Expr& position, std::string_view variable, bool* linear);

bool same(const Expr& a, const Expr& b);  // structurally equal
bool uses(const Expr& e, std::string_view variable);
void visit(const Expr& e, const std::function<void(const ExprNode&)>& fn);  // every node, parents first
std::set<std::string> variables_of(const Expr& e);
std::set<std::string> tensors_of(const Expr& e);

// Rebuilds bottom-up; `fn` may return a replacement for a node or null to keep it. Positions are canonical
// again afterwards.
Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& fn);
Expr substitute(const Expr& e, const std::map<std::string, Expr>& variables);

// Rough cost of evaluating once, in units of an addition; loads count 1.
double cost_of(const Expr& e);
// exp, tanh, sin ... occurs: what takes many instructions.
bool has_function(const Expr& e);
std::string print(const Expr& e);

}  // namespace kforge::smith
