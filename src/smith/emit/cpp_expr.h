// Expressions as C++, for one element or for the lanes of a vector.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smith/loops/loops.h"

namespace kforge::smith {

// How names in expressions are written, and which headers of kernels/ they need.
struct CppScope {
  const std::map<std::string, TensorInfo>* tensors = nullptr;
  std::map<std::string, std::string> variables;  // loop variable -> C++ (itself where absent)
  std::set<std::string>* used = nullptr;         // headers of kernels/
  std::string lane_variable;  // the loop whose iterations are lanes; empty: single elements
  int* counter = nullptr;     // for names of intermediate results
};

std::string c_type(Type type);  // "float", "double", "int64_t", "bool"
std::string literal(double value, Type type);
std::string position_text(const CppScope& scope, const Expr& position);
// Pointer to the element: "x + b * 64 + d".
std::string address_text(const CppScope& scope, const std::string& tensor, const Shape& view,
                         const std::vector<Expr>& position);
// Whether every part that depends on the lanes has a vector form.
bool has_lanes(const CppScope& scope, const Expr& e, const std::string& variable);

// Statements that compute the value, ending in an expression for it. Lines are not indented.
struct CppValue {
  std::vector<std::string> lines;
  std::string text;
  bool uniform = true;  // the same in all lanes (a plain float)
};
CppValue cpp_value(const CppScope& scope, const Expr& e);

// Statement that stores a value.
std::string store_text(const CppScope& scope, const TensorInfo& tensor, const Shape& view,
                       const std::vector<Expr>& position, const CppValue& value, Type type, bool stream);
// A tensor that is one element and lives in a loop iteration is a C++ variable.
bool is_scalar_local(const TensorInfo& tensor);

}  // namespace kforge::smith
