// How operators are spelled in C++, as tables.
#pragma once

#include <string>
#include <string_view>

#include "smith/expr/expr.h"

namespace kforge::smith {

struct Spelling {
  std::string_view text;    // {0}, {1}: operands
  std::string_view header;  // of kernels/ that it needs
  bool lanes;               // has a vector form
};
// Functions on floats. Where there is no vector form the lanes are computed one by one.
Spelling spelling_of(Op op);
// Doubles are scalar code: libm's functions.
std::string_view double_spelling(Op op);
// "+"; empty where the operator is no infix.
std::string_view infix_of(Op op);

bool is_atom(const std::string& text);
std::string bracketed(const std::string& text);

}  // namespace kforge::smith
