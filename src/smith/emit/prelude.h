// The C++ that emitted kernels begin with: vectors of the machine's width through the compiler's vector
// extensions, loads and stores of every element type, and mathematical functions on vectors, accurate to 4
// ulp over the whole range. Only the pieces a kernel uses are written.
#pragma once

#include <set>
#include <string>

namespace kforge::smith {

// Pieces by the name of the function that is called ("exp", "load_bf16", "stream"); those they need come with
// them, in an order that compiles.
std::string prelude(const std::set<std::string>& used);

}  // namespace kforge::smith
