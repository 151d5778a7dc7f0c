// What the operators with native code share: operands as pointers, tables.
#pragma once

#include <string>

#include "smith/graph/lowering.h"

namespace kforge::smith {

// The value as a tensor of its own kind; narrow floating types become float.
Value stored(Lowering& l, const Value& x, const std::string& hint);

// A tensor whose elements are known now: tables of indices, weights, roots of unity.
Value table_of(Lowering& l, const std::string& hint, const Shape& shape, const std::vector<double>& values);
Value table_of(Lowering& l, const std::string& hint, const Shape& shape,
               const std::vector<std::int64_t>& values);

}  // namespace kforge::smith
