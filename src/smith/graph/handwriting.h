// What the operators written by hand share: templates of C++ with holes, and operands as pointers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "smith/graph/lowering.h"

namespace kforge::smith {

// "%NAME%" becomes its value.
std::string filled(std::string_view text, const std::map<std::string, std::string>& holes);

// The value as a tensor of its own kind; narrow floating types become float.
Value stored(Lowering& l, const Value& x, const std::string& hint);

// A tensor whose elements are known now: tables of indices, weights, roots of unity.
Value table_of(Lowering& l, const std::string& hint, const Shape& shape, const std::vector<double>& values);
Value table_of(Lowering& l, const std::string& hint, const Shape& shape,
               const std::vector<std::int64_t>& values);

}  // namespace kforge::smith
