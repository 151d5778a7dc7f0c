// A formula such as "x * 0.5 * (1 + Erf(x / 1.41421356))" in a form in which the many ways to write it down
// are one: products and sums are flat lists, divisions and roots are exponents, numbers are gathered in one
// coefficient. formula_match.h finds formulas in graphs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct Formula;
using FormulaPtr = std::shared_ptr<const Formula>;

struct Factor {
  FormulaPtr base;
  double exponent = 1;
};

struct Formula {
  enum class Kind {
    kVariable,  // a tensor: the same one wherever the name stands
    kNumber,
    kCall,     // an operator of the graph, by name, with its inputs
    kProduct,  // number * factors
    kSum,      // number + terms
  };
  Kind kind = Kind::kNumber;
  std::string name;               // kVariable, kCall; kSum: of the number where any will do ("@epsilon")
  double number = 0;              // kNumber; the coefficient of kProduct; the constant of kSum
  std::vector<FormulaPtr> parts;  // inputs of kCall, terms of kSum
  std::vector<Factor> factors;    // kProduct
};

using FormulaKind = Formula::Kind;

// + - * / and parentheses; ^ followed by a number; Sqrt(v) is v ^ 0.5. Names with a capital are operators,
// others are tensors; @name is a number that is found out. REQUIRES: text is well formed (formulas are part
// of the program).
FormulaPtr parse_formula(std::string_view text);

}  // namespace kforge
